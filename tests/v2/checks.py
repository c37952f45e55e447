#!/usr/bin/env python3
"""The command, where cgroup v2 is all there is: what limits native programs.
test-seconds: 120"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

SECONDS = 120  # for one run, under emulation
PROGRAM = os.environ.get("REDOMA_PROGRAM")  # what stands for the command


def run_one(*args):
    return run_json(*args, timeout=SECONDS, program=PROGRAM)


def native(*argv, limits=(), options=()):
    flags = [f for l in limits for f in ("--limit", l)]
    return run_one("run", "--native", *flags, *options, "--", *argv)


def shell(script, *limits):
    return native("/bin/sh", "-c", script, limits=("wall=60s", *limits))


@case("doctor: the control group is enforced, by v2")
def _():
    r = command("doctor", "--json", timeout=SECONDS, program=PROGRAM)
    rows = strict_json(r.out)["controls"]
    print(f"# {r.out.decode().strip()}")
    need(all(c["state"] == "enforced" for c in rows), r.about())


@case("eval")
def _():
    expect(run_one("eval", "js", "1+1"), "ok", value=2)


@case("a native program")
def _():
    r = expect(native("/bin/true"), "ok")
    need(r.json["walls"]["kernel"]["cgroup"] == "enforced", r.about())


@case("its usage is told")
def _():
    r = expect(shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), "ok")
    need(r.json["usage"]["cpu_us"] > 10000, r.about())
    need(r.json["usage"]["memory_bytes"] > 0, r.about())


@case("a memory bomb: memory_limit; with room it ends well")
def _():
    bomb = ("/usr/bin/python3", "-I", "-c", "x = bytearray(100 << 20)")
    expect(native(*bomb, limits=("memory=64MiB", "wall=60s")), "memory_limit")
    expect(native(*bomb, limits=("memory=256MiB", "wall=60s")), "ok")


@case("a memory bomb of a grandchild: the whole run ends")
def _():
    r = shell("(x=0123456789; while :; do x=$x$x; done); echo survived; "
              "sleep 50", "memory=64MiB")
    expect(r, "memory_limit", stdout="")
    need(r.seconds < 40, r.about())


@case("a fork bomb ends with its run")
def _():
    r = expect(native("/bin/sh", "-c", "f() { f & f; }; f 2>/dev/null; "
                      "sleep 50", limits=("wall=4s", "cpu=60s")),
               "wall_limit", "error")
    need(r.seconds < 40, r.about())


@case("a CPU limit, also of many processes together")
def _():
    expect(shell("while :; do :; done", "cpu=1s"), "cpu_limit")
    expect(shell("for i in 1 2 3; do (while :; do :; done) & done; wait",
                 "cpu=2s"), "cpu_limit")


if __name__ == "__main__":
    main()

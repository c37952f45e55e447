#!/usr/bin/env python3
"""test-seconds: 200
Modules against their limits, each with a control under a larger one."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lib_wasm as W
from lib_redoma import *


def guest(*args, options=(), **kw):
    return module("limits", *args, options=options, flags=("-msimd128",), **kw)


def wall(ms):
    return ("--limit", f"wall={ms}ms")


for _name in ("loop", "empty-loop", "nested-loop", "simd-loop"):
    @case(f"C129 {_name}")
    def _(name=_name):
        expect_limit(guest(name, options=wall(400)), "wall_limit", "cpu_limit",
                     limit_s=0.4)


def straight(line, times):
    """One function without a loop or a call: nothing in it looks at time."""
    return write("straight.wasm", W.module(
        memory=W.limits(512), codes=(W.body(line * times),)))


FILL = W.const(0) + W.const(1) + W.const(512 << 16) + b"\xfc\x0b\x00"


@case("C129 a very long straight line, ended from outside")
def _():
    options = ("--limit", "cpu=20s")
    # The control: the same line, short, does end.
    expect(run_json("run", straight(FILL, 4), *options), "ok")
    path = straight(FILL, 20_000)  # minutes
    run_json("run", path, *options, *wall(100))  # compiled
    r = run_json("run", path, *options, *wall(400))
    expect_limit(r, "wall_limit", limit_s=0.4)
    r = run_json("run", path, "--limit", "cpu=300ms", *wall(9000))
    expect(r, "cpu_limit")
    need(r.json["usage"]["cpu_us"] < 800_000, r.about())


@case("C129 a straight line of 7 MB: compiled in time, or refused")
def _():
    # local 0 = local 0 / 3 + 1, of 64 bits
    step = b"\x20\x00\x42\x03\x80\x42\x01\x7c\x21\x00"
    data = W.module(codes=(W.body(step * (7_000_000 // len(step)),
                                  W.vec([W.u(1) + bytes([W.I64])])),))
    r = run_json("run", write("long.wasm", data), *wall(1000), timeout=30)
    need(r.status in ("ok", "wall_limit") or r.status == "invalid"
         and "more than 10 seconds" in r.message, r.about())
    need(r.seconds < 14 * SLOW, r.about())


@case("C113 C241 sleeping for an hour, and for ever")
def _():
    for args in (("sleep", "3600"), ("sleep-longest", "relative"),
                 ("sleep-longest", "absolute")):
        r = guest(*args, options=wall(600))
        expect_limit(r, "wall_limit", limit_s=0.6)
        need(r.json["usage"]["cpu_us"] < 300_000, r.about())
    expect(guest("sleep", "0", options=wall(2000)), "ok", stdout="ok\n")


@case("C117 the first event wins")
def _():
    for kind, want in (("clocks", "1"), ("stdin", "2")):
        r = guest("poll", kind, options=wall(5000))
        expect(r, "ok")
        text = r.json["stdout"]
        need(text.startswith("ok n=") and f"first={want}" in text, r.about())
        ms = int(text.rsplit("ms=", 1)[1])
        need(95 <= ms < 600 if kind == "clocks" else ms < 90, text)


@case("C117 standard input: closed, empty, full")
def _():
    limits = wasm("limits", "-msimd128")
    null = os.open(os.devnull, os.O_RDONLY)
    for how in (subprocess.DEVNULL, subprocess.PIPE, null):
        p = subprocess.run([REDOMA, "run", limits, "--limit", "wall=3s",
                            "--json", "--", "poll", "stdin"], stdin=how,
                           capture_output=True, timeout=10)
        text = strict_json(p.stdout)["stdout"]
        need("first=2" in text and int(text.rsplit("ms=", 1)[1]) < 90, text)
    os.close(null)
    r = command("run", limits, "--input", "-", "--", "copy",
                stdin=b"x" * 900_000)
    need(r.code == 0 and len(r.out) == 900_000, r.about()[:400])


@case("cpu: a loop ends at its CPU limit, a sleep does not")
def _():
    opts = ("--limit", "cpu=200ms", "--limit", "wall=8s")
    expect_limit(guest("loop", options=opts), "cpu_limit", limit_s=0.2)
    expect(guest("sleep", "1", options=opts), "ok")


@case("fuel: ends a loop; the same program costs the same")
def _():
    expect(guest("loop", options=("--limit", "fuel=10_000_000")), "fuel_limit",
           within=3)
    used = {guest("show", "x", options=("--limit", "fuel=1_000_000_000"))
            .json["usage"]["fuel"] for _ in range(3)}
    need(len(used) == 1 and used.pop() > 1000, f"{used}")


@case("memory.grow is refused at the limit, and the program goes on")
def _():
    for mib in (16, 48):
        r = guest("grow", options=("--limit", f"memory={mib}MiB"))
        expect(r, "ok", "memory_limit")
        if r.status == "ok":
            pages = int(r.json["stdout"].split()[2])
            need((mib - 4) * 16 <= pages <= mib * 16, r.about())
        need(r.watch.one_peak < (mib + 64) * MIB, r.about())


@case("malloc over the limit fails, under it works")
def _():
    r = guest("allocate", str(64 << 20), options=("--limit", "memory=32MiB"))
    expect(r, "ok", "memory_limit")
    need(r.status != "ok" or r.json["stdout"] == "ENOMEM\n", r.about())
    expect(guest("allocate", str(64 << 20)), "ok", stdout="ok\n")


@case("output floods: the prefix is kept")
def _():
    for args in (("flood", "1"), ("flood", "2"), ("flood-bytes",)):
        r = guest(*args, options=("--limit", "output=64KiB", "--limit",
                                  "wall=8s"))
        expect_limit(r, "output_limit", limit_s=8)
        kept = len(r.json.get("stdout", "") + r.json.get("stderr", ""))
        need(r.json["truncated"] is True and 32 << 10 <= kept <= 64 << 10,
             f"{kept}: {r.about()}")


@case("C115 counts and pointers no program needs: errno at once")
def _():
    r = guest("huge", options=("--limit", "wall=10s"))
    expect(r, "ok", within=4)
    rows = [l.replace(":", "").rsplit(" ", 2)
            for l in r.json["stdout"].splitlines()]
    need(len(rows) == 16, r.about())
    for name, what, ms in rows:
        need(int(ms) < 1000 * SLOW, f"{name} took {ms} ms")
    got = {name: what for name, what, _ in rows}
    for name, what in got.items():
        need(what != "ok", f"{name}: {what}")
    for name in ("write end", "write wrap", "write ret", "random end",
                 "args end", "clock end", "random 4G"):
        need(got[name] == "EFAULT", f"{name}: {got[name]}")
    need(r.watch.one_peak < 200 * MIB, f"{r.watch.one_peak >> 20} MiB")


@case("C133 memory of one run is never seen by another")
def _():
    size = str(32 << 20)
    for how in ((), ("trap",), ("loop",)):
        guest("marker", size, *how, options=wall(1500))
        r = guest("marker", size)
        expect(r, "ok", stdout="seen 0 odd 0\n")
    for how in ((), ("trap",)):
        guest("marker", size, *how, options=("--reuse", "tenant"))
        r = guest("marker", size, options=("--reuse", "tenant"))
        expect(r, "ok", stdout="seen 0 odd 0\n")


@case("exit codes of modules")
def _():
    for code in (0, 1, 3, 125):
        r = guest("exit", str(code))
        expect(r, "ok" if not code else "error")
        need(r.json["exit_code"] == code, r.about())
    r = guest("exit", "300")
    need(r.status in ("error", "trap"), r.about())


@case("C165 output before a trap is kept")
def _():
    expect(guest("trap"), "trap", stdout="before\n")


@case("C165 a guest that closes its standard output")
def _():
    r = guest("close-out")
    expect(r, "ok", stdout="partial")
    need(r.json["stderr"].strip() == "EBADF", r.about())


@case("arguments, variables and standard input arrive exactly")
def _():
    r = guest("show", "a b", "", "é", "--json", options=(
        "--env", "A=1", "--env", "B=x=y"), env={"LEAK": SECRET})
    expect(r, "ok", stdout="arg a b\narg \narg é\narg --json\nenv A=1\n"
           "env B=x=y\n")
    blob = bytes(range(256)) * 500
    r = command("run", wasm("limits", "-msimd128"), "--input", "-", "--",
                "copy", stdin=blob)
    need(r.code == 0 and r.out == blob, r.about()[:500])
    r = guest("copy")
    expect(r, "ok")
    need(r.json.get("stdout", "") == "", r.about())


if __name__ == "__main__":
    main()

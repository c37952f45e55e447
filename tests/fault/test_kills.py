#!/usr/bin/env python3
"""test-seconds: 200
Processes of a run killed with SIGKILL at every stage: the caller is told, the
next run is right, nothing is left, nothing is published."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def start(*args):
    return subprocess.Popen([REDOMA, "run", *map(str, args), "--json",
                             "--limit", "wall=5s"], cwd=scratch(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def kill_when(p, name, delay, within=3.0):
    """SIGKILL to the first process of p's tree with that name, `delay` seconds
    after it was seen.  False if p ended before."""
    end = time.monotonic() + within
    while time.monotonic() < end and p.poll() is None:
        for pid in tree_below(os.getpid()):
            if name_of(pid) == name:
                time.sleep(delay)
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    return False
                return True
    return False


def finish(p, *statuses):
    try:
        out, err = p.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        p.kill()
        kill_survivors()
        raise Failed("the command hangs") from None
    left = survivors(3)
    need(not left, f"left {[(l, name_of(l)) for l in left]}")
    need(out.endswith(b"\n"), f"no answer: {out!r} {err!r}")
    r = strict_json(out)
    need(r["status"] in statuses, f"{r} {err!r}")
    return r


def next_run_is_right():
    expect(js("6 * 7"), "ok", value=42)


DELAYS = [0.0, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.05, 0.2]


@case("the worker, from its birth on")
def _():
    killed = 0
    for delay in DELAYS:
        p = start(source("console.log('x'); for (;;);"))
        hit = kill_when(p, "redoma-worker", delay)
        r = finish(p, *(("crashed", "refused") if hit else
                        ("crashed", "refused", "wall_limit")))
        killed += hit
        need(r["status"] != "crashed" or r.get("error", {}).get("message"),
             f"no word on why: {r}")
    need(killed >= len(DELAYS) - 2, f"only {killed} were hit")
    next_run_is_right()


@case("the zygote, from its start on")
def _():
    killed = 0
    for delay in DELAYS:
        p = start(source("for (;;);"))
        killed += kill_when(p, "redoma-zygote", delay)
        finish(p, "crashed", "refused", "wall_limit")
    need(killed >= len(DELAYS) - 2, f"only {killed} were hit")
    next_run_is_right()


def groups():
    return {t for t in traces() if t.startswith("/sys/fs/cgroup")}


@case("the keeper of the zygote's group, from its start on")
def _():
    if js("1").json["walls"]["kernel"]["cgroup"] != "enforced":
        raise Skipped("a control group of our own")
    killed = 0
    for delay in DELAYS:
        p = start(source("for (;;);"))
        killed += kill_when(p, "redoma-keeper", delay)
        finish(p, "crashed", "refused", "wall_limit")
    need(killed >= len(DELAYS) - 2, f"only {killed} were hit")
    # Its group stays until the next one comes.
    next_run_is_right()
    need(not groups(), f"left: {groups()}")


@case("the command itself: the zygote's group goes too")
def _():
    before = groups()
    for delay in DELAYS:
        p = start(source("for (;;);"))
        kill_when(p, "redoma-keeper", delay, within=1)
        p.kill()
        p.wait()
        p = start(source("for (;;);"))
        time.sleep(delay)
        p.kill()
        p.communicate()
        need(not survivors(3), f"left: {survivors(0)}")
    next_run_is_right()
    need(not groups() - before, f"left: {groups() - before}")


@case("the compiler, while it compiles")
def _():
    import lib_wasm as W
    one = W.const(1) + W.DROP
    # Modules that nobody's cache has yet.
    size = 1_000_000 + 4 * (time.time_ns() // 1000 % 50_000)
    killed = 0
    for n, delay in enumerate((0.0, 0.01, 0.1, 0.4)):
        data = W.module(codes=(W.body(one * (size + n)),))
        p = start(write(f"big{n}.wasm", data))
        killed += kill_when(p, "redoma-compile", delay)
        finish(p, "refused", "invalid", "crashed", "ok")
        # What a killed compiler left behind must not be taken for an artefact.
        p = start(write(f"big{n}.wasm", data))
        finish(p, "ok", "invalid")
    need(killed >= 2, f"only {killed} were hit")
    next_run_is_right()


@case("the worker, while files are written: nothing is published")
def _():
    out = scratch() / "out"
    out.mkdir()
    (out / "f").write_text("before")
    code = ("const fs = require('node:fs');"
            "for (let i = 0; ; i++) fs.writeFileSync('/o/f', 'y'.repeat(i))")
    for delay in (0.0, 0.01, 0.05, 0.2):
        p = start(source(code), "--write", f"{out}/f=/o/f:1MiB")
        kill_when(p, "redoma-worker", delay)
        finish(p, "crashed", "refused")
        need((out / "f").read_text() == "before", "something was published")
        need(os.listdir(out) == ["f"], f"{os.listdir(out)}")


@case("the command itself, while files are written")
def _():
    out = scratch() / "out2"
    out.mkdir()
    (out / "f").write_text("before")
    code = ("const fs = require('node:fs');"
            "for (let i = 0; i < 300; i++) fs.writeFileSync('/o/f', 'y')")
    for delay in (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1):
        p = start(source(code), "--write", f"{out}/f=/o/f:1MiB")
        time.sleep(delay)
        p.kill()
        p.communicate()
        left = survivors(3)
        need(not left, f"left {[(l, name_of(l)) for l in left]}")
        need((out / "f").read_text() in ("before", "y"), "half a file")
        # A kill within publishing may leave one hidden file.
        need(set(os.listdir(out)) - {"f"} <= {
            n for n in os.listdir(out) if n.startswith(".redoma-")},
            f"{os.listdir(out)}")


if __name__ == "__main__":
    main()

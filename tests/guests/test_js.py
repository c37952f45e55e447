#!/usr/bin/env python3
"""JavaScript as Node runs it: each program of tests/guests/js prints exactly
what Node printed when its .out and .err were made (make_expected.py).

test-seconds: 300
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

PROGRAMS = pathlib.Path(__file__).resolve().parent / "js"


def same(what, got, path, program):
    want = path.read_text() if path.exists() else ""
    if got == want:
        return
    a, b = want.splitlines(), got.splitlines()
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y),
              min(len(a), len(b)))
    raise Failed(f"{program}: {what} line {at + 1}\n"
                 f"  node: {a[at] if at < len(a) else '(end)'!r}\n"
                 f"  here: {b[at] if at < len(b) else '(end)'!r}")


def check(source):
    place = scratch() / f"{source.stem}.d"
    place.mkdir()
    r = run_json("run", source, "--write", f"{place}/=/data/:64MiB", "--",
                 "/data")
    expect(r, "ok")
    for stream, ending in (("stdout", ".out"), ("stderr", ".err")):
        got = r.json.get(stream, "").replace("/data", "DIR")
        same(stream, got, source.with_suffix(ending), source.name)


for _source in sorted(PROGRAMS.glob("*.js")):
    @case(f"node: {_source.stem}")
    def _(source=_source):
        check(source)


if __name__ == "__main__":
    main()

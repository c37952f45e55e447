#!/usr/bin/env python3
"""The command, where cgroup v2 is all there is and no group is ours to limit:
it says so, and runs no native program.
test-seconds: 120"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

SECONDS = 120  # for one run, under emulation


@case("doctor: no control group")
def _():
    r = command("doctor", "--json", timeout=SECONDS)
    rows = {c["name"]: c for c in strict_json(r.out)["controls"]}
    need(rows["cgroup"]["state"] == "unavailable", r.about())


@case("a native program is refused, with the remedy")
def _():
    r = run_json("run", "--native", "--", "/bin/true", timeout=SECONDS)
    expect(r, "refused", says="Delegate=yes")


@case("without that wall, it runs, and the result says so")
def _():
    r = run_json("run", "--native", "--walls", "cgroup", "--", "/bin/true",
                 timeout=SECONDS)
    expect(r, "ok")
    need(r.json["walls"]["kernel"]["cgroup"] != "enforced", r.about())


@case("eval needs no control group")
def _():
    expect(run_json("eval", "js", "1+1", timeout=SECONDS), "ok", value=2)


if __name__ == "__main__":
    main()

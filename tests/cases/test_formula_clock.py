#!/usr/bin/env python3
"""redoma formula: time and randomness are the policy's."""
import csv
import io
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

FIXED = "fixed:2026-01-01T10:20:30Z"
FEW = "a\n1\n2\n"
MANY = "a\n" + "3\n" * 100 + "x\n"


def formulas(lang, table, *args):
    r = command("formula", "--lang", lang, "--formula", "now=NOW()",
                "--formula", "day=TODAY()", "--formula", "other=a * 2",
                "--formula", "or=IFERROR(NOW(), 7)", write("t.csv", table),
                *args)
    return r, list(csv.DictReader(io.StringIO(r.out.decode())))


def both():
    return [(lang, table) for lang in ("js", "py") for table in (FEW, MANY)]


@case("NOW and TODAY are the policy's fixed time, by option and by file")
def _():
    policy = write("fixed.yaml", f"redoma: 1\nclock: {FIXED}\n")
    for lang, table in both():
        for args in (("--clock", FIXED), ("--policy", policy)):
            r, rows = formulas(lang, table, *args)
            need(r.code == 0 and len(rows) == table.count("\n") - 1, r.about())
            need({(x["now"], x["day"], x["or"]) for x in rows} ==
                 {("2026-01-01T10:20:30Z", "2026-01-01",
                   "2026-01-01T10:20:30Z")}, r.about())
            need(rows[1]["other"] == str(2 * int(rows[1]["a"])), r.about())


@case("clock: none: NOW and TODAY are errors that say so, nothing else is")
def _():
    policy = write("none.yaml", "redoma: 1\nclock: none\n")
    for lang, table in both():
        for args in (("--clock", "none"), ("--policy", policy)):
            r, rows = formulas(lang, table, *args)
            need(r.code == 1 and "the policy has `clock: none`" in r.text,
                 r.about())
            need({(x["now"], x["day"], x["or"]) for x in rows} ==
                 {("#VALUE!", "#VALUE!", "7")}, r.about())
            need(rows[1]["other"] == str(2 * int(rows[1]["a"])), r.about())


@case("clock: real is the time")
def _():
    for lang, table in both():
        r, rows = formulas(lang, table)
        need(r.code == 0 and len({x["now"] for x in rows}) == 1, r.about())
        at = time.strptime(rows[0]["now"][:19], "%Y-%m-%dT%H:%M:%S")
        need(abs(time.mktime(at) - time.mktime(time.gmtime())) < 60, r.about())


@case("on_denied: end: who asks for the time that there is not ends the table")
def _():
    policy = write("end.yaml", "redoma: 1\nclock: none\non_denied: end\n")
    for lang, table in both():
        r, rows = formulas(lang, table, "--policy", policy)
        need(r.code not in (0, 1) and "clock: real" in r.text and not rows,
             r.about())
        r = command("formula", "--lang", lang, "a * 2", write("t.csv", table),
                    "--policy", policy)
        need(r.code == 0, r.about())


@case("random numbers go by the policy")
def _():
    table = write("r.csv", FEW)

    def run(how):
        return command("formula", "--lang", "js", "Math.random()", table,
                       "--random", how)
    need(run("seed:1").out == run("seed:1").out, "a seed gives others")
    need(run("seed:1").out != run("seed:2").out, "the seed does not matter")
    need(run("real").out != run("real").out, "the same numbers again")
    r = run("none")
    need(r.code == 1 and b"#VALUE!" in r.out, r.about())


@case("an option beside a policy can only narrow it")
def _():
    policy = write("narrow.yaml", "redoma: 1\nclock: none\n"
                   "limits: {wall: 2s}\n")
    table = write("t.csv", FEW)
    for option, value in (("--clock", "real"), ("--limit", "wall=60s"),
                          ("--limit", "output=128MiB")):
        r = command("formula", "a", table, "--policy", policy, option, value)
        need(r.code == 4 and b"more than the policy's" in r.err and not r.out,
             r.about())
    r = command("formula", "a", table, "--policy", policy, "--limit", "wall=1s")
    need(r.code == 0 and r.out == b"a,result\n1,1\n2,2\n", r.about())
    loop = "[x for x in iter(int, 1)]"
    r = command("formula", loop, table, "--policy", policy, "--limit",
                "wall=1s", "--row-time", "10s", timeout=60)
    need(r.code == 3 and b"limit of 1s" in r.err, r.about())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# test-seconds: 600
"""A table in which no row lets itself be ended comes to its end all the same."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

DEEP = "(lambda f: f(f, [], 40) == f(f, [], 40))(lambda f, x, k: f(f, [x, x]" \
       ", k - 1) if k else x)"
LOST = 120  # seconds that batches which fail may take together


@case("rows that are cut off may take two minutes together")
def _():
    table = write("t.csv", "n\n" + "1\n" * 20000)
    r = command("formula", "--lang", "py", DEEP, table, timeout=500)
    need(r.code == 7 and b"RowTime" in r.err, r.about()[:500])
    need(LOST <= r.seconds < LOST + 30 * SLOW, f"{r.seconds} s")


@case("or as long as a run may")
def _():
    table = write("t.csv", "n\n" + "1\n" * 700)
    r = command("formula", "--lang", "py", DEEP, table, "--limit",
                "wall=60m", timeout=500)
    need(r.code == 1 and r.out.count(b"#TIME!") == 700, r.about()[:500])
    need(r.seconds > LOST, f"{r.seconds} s")


if __name__ == "__main__":
    main()

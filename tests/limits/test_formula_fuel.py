#!/usr/bin/env python3
"""Formulas under fuel: which row is too much does not depend on the clock, to
the last instruction, and no other row is touched.
test-seconds: 240"""
import contextlib
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

FUEL = 30000000
WORK = {"js": "Array.from({ length: n }, () => 0).length",
        "py": "len([0 for _ in range(n)])"}
LOOP = {"js": "n === 3 ? (() => { for (;;) try { for (;;); } finally "
              "{ continue; } })() : n * 2",
        "py": "len([0 for _ in iter(int, 1)]) if n == 3 else n * 2"}
# C that asks nobody.
DEAF = {"js": "n === 3 ? 'a'.repeat(5e6).indexOf('a'.repeat(2e6) + 'b') : "
              "n * 2",
        "py": "len(str(7 ** 3000000)) if n == 3 else n * 2"}
BUSY = {"js": "(() => { let s = 0; for (let i = 0; i < n * 3e6; i++) s += i; "
              "return s > 0; })()",
        "py": "n > 0 and SUM([1 for _ in range(1000000)]) > 0"}


def formula(lang, text, rows, *options, fuel=FUEL, **kw):
    table = write("t.csv", "n\n" + "".join("%d\n" % n for n in rows))
    if fuel:
        options += ("--limit", f"fuel={fuel}")
    return command("formula", "--lang", lang, text, table, *options, **kw)


def column(r):
    need(r.code in (0, 1), r.about())
    return [row["result"] for row in table_rows(r)]


@contextlib.contextmanager
def busy_machine():
    burners = [subprocess.Popen([sys.executable, "-c",
                                 "import time\nend = time.monotonic() + 60\n"
                                 "while time.monotonic() < end: pass"])
               for _ in range(3)]
    try:
        yield
    finally:
        for b in burners:
            b.kill()
            b.wait()


for _lang in ("js", "py"):
    @case(f"{_lang}: the rows of too much work, and they alone, on a busy "
          "machine too")
    def _(lang=_lang):
        rows = [(7 * i % 20) * 6000 for i in range(20)]
        first = column(formula(lang, WORK[lang], rows))
        ended = {n for n, v in zip(rows, first) if v == "#TIME!"}
        need(0 < len(ended) < 20 and min(ended) > max(set(rows) - ended),
             str(first))
        need(all(v in ("#TIME!", str(n)) for n, v in zip(rows, first)),
             str(first))
        with busy_machine():
            for _ in range(2):
                r = formula(lang, WORK[lang], rows, may_leave=True,
                            timeout=60)
                need(column(r) == first, "other rows were ended")

    @case(f"{_lang}: counted to the last unit")
    def _(lang=_lang):
        def fits(fuel):
            r = formula(lang, WORK[lang], [20000], fuel=fuel)
            # Less than the formula itself takes ends the table.
            return r.code == 0 and column(r) == ["20000"]

        low, high = 1, FUEL
        need(fits(high) and not fits(low), "no place to look for")
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        for _ in range(3):
            need(fits(high) and not fits(low), f"{low} or {high}")
        need(column(formula(lang, WORK[lang], [20000], fuel=low)) ==
             ["#TIME!"], "it ended otherwise")

    @case(f"{_lang}: a row that never ends is ended alone, and one that asks "
          "nobody")
    def _(lang=_lang):
        for text in (LOOP[lang], DEAF[lang]):
            got = column(formula(lang, text, range(6), "--limit",
                                 "memory=64MiB", fuel=3 * FUEL, timeout=60))
            need(got == ["0", "2", "4", "#TIME!", "8", "10"], str(got))

    @case(f"{_lang}: the clock ends no row; the control: without fuel it does")
    def _(lang=_lang):
        r = formula(lang, BUSY[lang], [0, 9], "--row-time", "1ms", fuel=0,
                    timeout=60)
        need(column(r)[1] == "#TIME!", r.about())
        with busy_machine():
            r = formula(lang, BUSY[lang], [0, 9], "--limit", "wall=50s",
                        fuel=10 ** 12, may_leave=True, timeout=60)
        need(column(r)[1] == "true", r.about())
        need(r.seconds > 0.1, f"{r.seconds} s: too little to be ended")

    @case(f"{_lang}: rows that are too much only together are all there")
    def _(lang=_lang):
        rows = [2000] * 400
        got = column(formula(lang, WORK[lang], rows, timeout=60))
        need(got == ["2000"] * 400, str(got[:5]))

    @case(f"{_lang}: what is no row's ends the table")
    def _(lang=_lang):
        r = formula(lang, WORK[lang], [1, 2], fuel=1000)
        need(r.code == 3 and b"fuel" in r.err, r.about())
        whole = WORK[lang] + " + 0 * rows.n[0]"
        r = formula(lang, whole, [1, 1000000])
        need(r.code == 3 and b"fuel" in r.err, r.about())

    @case(f"{_lang}: a limit of time beside fuel is refused")
    def _(lang=_lang):
        r = formula(lang, "n", [1], "--row-time", "5ms")
        need(r.code == 2 and b"row-time" in r.err and
             r.err.count(b"\n") == 1, r.about())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What formulas compute of whole columns is computed once, in no row's time and
within a bound.  Both languages."""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

csv.field_size_limit(1 << 24)
N = 400000
OWN = {  # the same work, by the formula itself
    "js": "(() => { let s = 0; for (let i = 0; i < 20; i++) "
          "s += rows.n.reduce((a, b) => a + b, 0); return s; })()",
    "py": "sum(x * 2 - x for _ in range(20) for x in rows.n)",
}


def formula(lang, table, *args, **kw):
    path = table if isinstance(table, pathlib.Path) else write("t.csv", table)
    return command("formula", "--lang", lang, *args, path, **kw)



for _lang in OWN:
    @case(f"{_lang}: a sum of all rows takes no row's time")
    def _(lang=_lang):
        table = write("many.csv", "n\n" + "".join(
            "%d\n" % n for n in range(N)))
        total = N * (N - 1) / 2
        for _ in range(4):  # a busy machine may take 50 ms from any row
            r = formula(lang, table, "--row-time", "50ms", "--formula",
                        "a=n / SUM(rows.n)", "--formula",
                        "b=MATCH(n, rows.n, 0)", timeout=60)
            if b"#TIME!" not in r.out:
                break
        for i, row in enumerate(table_rows(r)):
            need(abs(float(row["a"]) - i / total) < 1e-15 and
                 row["b"] == str(i + 1), f"row {i}: {row}")
        need(r.seconds < 20 * SLOW, r.about()[:300])

    @case(f"{_lang}: the control: what a row does itself is its own time")
    def _(lang=_lang):
        table = "n\n" + "".join("%d\n" % n for n in range(N))
        r = formula(lang, table, "--row-time", "50ms",
                    f"IF(index == 3, {OWN[lang]}, n)", timeout=60)
        got = [row["result"] for row in table_rows(r)]
        need(got[3] == "#TIME!", got[3])
        del got[3]
        need(got == [str(n) for n in range(N) if n != 3], "other rows")

    @case(f"{_lang}: a condition that never ends does")
    def _(lang=_lang):
        table = "s\n" + ("a" * 3000 + "\n") * 3
        bomb = "COUNTIF(rows.s, '%sb')" % ("*a" * 12)
        r = formula(lang, table, f"IF(index == 1, {bomb}, index)",
                    "--limit", "wall=60s", timeout=100)
        got = [row["result"] for row in table_rows(r)]
        need(got == ["0", "#TIME!", "2"], str(got))
        # Two seconds for what is of all rows, and that once.
        need(r.seconds < 5 * SLOW, r.about())
        r = formula(lang, table, bomb, "--row-time", "50ms", "--limit",
                    "wall=60s", timeout=100)
        got = [row["result"] for row in table_rows(r)]
        need(got == ["#TIME!"] * 3 and r.seconds < 5 * SLOW, r.about())

    @case(f"{_lang}: many conditions in one row are ended, too")
    def _(lang=_lang):
        table = write("some.csv", "n\n" + "".join(
            "%d\n" % n for n in range(20000)))
        many = {"js": "Array.from({length: 1e6}, (v, i) => "
                      "COUNTIF(rows.n, '>' + i)).length",
                "py": "len([COUNTIF(rows.n, '>%d' % i) for i in "
                      "range(10 ** 6)])"}[lang]
        r = formula(lang, table, f"IF(index == 1, {many}, n)",
                    "--limit", "wall=60s", timeout=100)
        got = [row["result"] for row in table_rows(r)]
        need(got[1] == "#TIME!" and got[2] == "2", str(got[:4]))
        need(r.seconds < 6 * SLOW, r.about()[:300])

    @case(f"{_lang}: what is remembered cannot be changed")
    def _(lang=_lang):
        table = "d,n\n2024-01-02,1\n2024-01-03,2\n2024-01-04,3\n"
        change = {"js": "[(() => { const d = MIN(rows.d); d.setUTCFullYear("
                        "1999); return d; })(), (() => { const a = SORT("
                        "rows.n); a[0] = 666; return a[0]; })(), (() => { "
                        "const d = INDEX(rows.d, 1); d.setUTCFullYear(1999); "
                        "return d; })(), (() => { const d = XLOOKUP(1, rows.n, "
                        "rows.d); d.setUTCFullYear(1999); return d })()].join()",
                  "py": "str([SORT(rows.n).clear(), FILTER(rows.n, [1, 1, 1])"
                        ".clear(), UNIQUE(rows.n).append(6)])"}[lang]
        r = formula(lang, table, "--formula",
                    f"x=IF(index < 2, LEN({change}), 0)", "--formula",
                    "m=MIN(rows.d)", "--formula", "s=INDEX(SORT(rows.n), 1)",
                    "--formula", "i=INDEX(rows.d, 1)", "--formula",
                    "l=XLOOKUP(1, rows.n, rows.d)", "--formula",
                    "u=COUNT(UNIQUE(rows.n)) + SUM(rows.n)")
        for row in table_rows(r):
            need(not row["x"].startswith("#"), str(row))
            need((row["m"], row["s"], row["i"], row["l"], row["u"]) ==
                 ("2024-01-02", "1", "2024-01-02", "2024-01-02", "9"),
                 str(row))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""redoma formula --lang py: what a formula in Python sees, and what it gives."""
import csv
import io
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

csv.field_size_limit(1 << 24)
ONE = "price,qty,name,blank,when\n120,3,Widget,,2024-02-29\n"


def formula(table, *args, ok=True, name="t.csv", lang="py", **kw):
    r = command("formula", "--lang", lang, *args, write(name, table), **kw)
    # 1: a formula came to an error in every row, as some do on purpose.
    need(not ok or r.code in (0, 1), r.about())
    return r


def column(r, name="result"):
    return [row[name] for row in csv.DictReader(io.StringIO(r.out.decode()))]


def value(expr, table=ONE, *args):
    return column(formula(table, expr, *args))


@case("formulas use each other, in whatever order they stand")
def _():
    r = formula("a\n1\n2\n0\n", "--formula", "d=c + 1", "--formula",
                "c=10 / b", "--formula", "b=a * 2", "--formula",
                "s=SUM(rows.b)", "--formula", "e=IFERROR(d, -1)",
                "--formula", "g=sum(rows['b']) + row.b")
    need(column(r, "d") == ["6", "3.5", "#DIV/0!"], r.about())
    need(column(r, "c") == ["5", "2.5", "#DIV/0!"], r.about())
    need(column(r, "s") == ["6", "6", "6"], r.about())
    need(column(r, "e") == ["6", "3.5", "-1"], r.about())
    need(column(r, "g") == ["8", "10", "6"], r.about())
    r = formula("a\n1\n", "--formula", "x=y", "--formula", "y=x", ok=False)
    need(r.code == 5 and b"circle" in r.err, r.about())


@case("a formula whose language is not said is Python")
def _():
    r = command("formula", "2 if qty > 3 else len(name)", write("t.csv", ONE))
    need(r.code == 0 and column(r) == ["6"], r.about())


@case("an error is its row's alone, and is told by its code and its words")
def _():
    r = formula("a,b\n1,x\n0,y\n,z\n", "10 / a")
    need(column(r) == ["10", "#DIV/0!", "#VALUE!"], r.about())
    need(b"2 cells are an error: 1 #DIV/0!, 1 #VALUE!; the first in row 2"
         in r.err and b"division by zero" in r.err, r.about())


@case("an error that another formula uses is that formula's")
def _():
    r = formula("a\n0\n", "--formula", "x=1 / a", "--formula", "y=x + 1",
                "--formula", "z=IFERROR(x + 1, 'none')", "--formula",
                "w=IFERROR(str(x), 'none')", "--formula",
                "v=IFERROR([x][0] == 1, 'none')", "--formula",
                "u=IFNA(x, 1)", "--formula", "t=SUM(rows.x)")
    need([column(r, n)[0] for n in "yzwvut"] ==
         ["#DIV/0!", "none", "none", "none", "#DIV/0!", "#DIV/0!"], r.about())


@case("a formula that does not parse is told by name")
def _():
    for text, says in (("1 +", "formula result"), ("(1", "never closed"),
                       ("1); (2", "unmatched"), ("a; b", "invalid syntax"),
                       ("", "empty"), ("  =  ", "empty"), ("IF(1)", "IF takes"),
                       ("await a", "does not wait"), ("(yield)", "yield"),
                       ("import os", "invalid syntax"), ("'", "unterminated"),
                       ("1) + (2", "unmatched"), ("x = 1", "invalid syntax"),
                       ("[x async for x in a]", "wait")):
        r = formula(ONE, text, ok=False)
        need(r.code == 5 and says in r.err.decode(), f"{text}: {r.about()}")


@case("names of columns are data")
def _():
    table = "__proto__,__class__,Unit price,SUM,class,preço,rows,True\n" \
            "1,2,3,4,5,6,7,8\n"
    for text, want in (("__proto__", "1"), ("__class__", "2"),
                       ('col["Unit price"]', "3"), ('col["SUM"]', "4"),
                       ("SUM(1, 2)", "3"), ("col['class']", "5"),
                       ("preço", "6"), ("col.rows", "7"), ("True", "true"),
                       ('row["__pro" + "to__"]', "1"), ("len(row)", "8"),
                       ("'x' in row", "false"), ("sum(row.values())", "36"),
                       ("rows['Unit price'][0]", "3"),
                       ("[SUM for SUM in [9]][0]", "9"),
                       ("(lambda preço: preço)(5)", "5")):
        need(value(text, table) == [want], f"{text}: {value(text, table)}")


@case("cells have Python's types")
def _():
    table = "i,f,s,b,d,t,n\n1,1.5,x,TRUE,2024-01-02,2024-01-02T03:04:05Z,\n"
    text = "' '.join(str(isinstance(v, k)) for v, k in zip((i, f, s, b, d, t)" \
           ", (int, float, str, bool, datetime.datetime, datetime.datetime)))"
    need(value(text, table) == ["True True True True True True"],
         value(text, table))
    need(value("n is None and (d, t.hour) == (DATE(2024, 1, 2), 3)", table) ==
         ["true"], "blank, dates")
    r = formula('{"a": 9007199254740993, "b": true}\n', "a + 1",
                name="t.jsonl")
    need(json.loads(r.out)["result"] == 9007199254740994, r.about())


@case("100,000 cells are those of a plain loop")
def _():
    rng = random.Random(5)
    rows = [(round(rng.uniform(1, 200), 2), rng.randrange(1, 9), "k%d" % n)
            for n in range(100000)]
    table = "price,qty,key\n" + "".join("%s,%d,%s\n" % r for r in rows)
    got = value("price*qty if qty>3 else 0", table)
    want = [p * q if q > 3 else 0 for p, q, _ in rows]
    need(len(got) == len(want), f"{len(got)} rows")
    for n, (a, b) in enumerate(zip(got, want)):
        need(float(a) == b, f"row {n}: {a}, wanted {b}")


BOTH = [
    "IF(a > 10, a * b, a - b)", "ROUND(a / 7, 2)", "ROUNDUP(a * 1.1, 1)",
    "MOD(a, 7) + INT(b / 2)", "IF(AND(a > 3, OR(b < 5, c == 'x')), c, a)",
    "LEFT(c, 2) + UPPER(c) + TEXT(a, '#,##0.00')", "SUM([a, b, a])",
    "IFERROR(100 / (a - b), 'none')", "CEILING(a, 0.5)", "SUBSTITUTE(c, 'a', 'é')",
    "SWITCH(b, 1, 'one', 2, c, 'more')", "EDATE(DATE(2020, 1, 31), b)",
    "NETWORKDAYS(DATE(2020, 1, b), DATE(2021, 1, 31))", "LEN(TRIM(c))",
    "CONCAT(a, '/', b)", "VLOOKUP(b, [[1, 'a'], [3, 'b'], [5, 'c']], 2)",
    "TEXTJOIN('-', true, c, b, '')", "MATCH(b, [1, 3, 5, 7], 1)",
    "PERCENTILE([a, b, 3], 0.4)", "PROPER(c)", "FIND('a', c)",
    "COUNTIF([a, b, c], '>3')", "TEXT(DATE(2020, b, 1), 'd mmm yyyy')",
]


@case("both languages give the same cells")
def _():
    rng = random.Random(7)
    words = ["banana", "x", " a  b ", "Ünïcode", "abracadabra", "A-b c"]
    rows = ["%s,%d,%s" % (rng.choice([rng.randrange(-50, 50),
                                      round(rng.uniform(-99, 99), 3)]),
                          rng.randrange(1, 12), rng.choice(words))
            for _ in range(2000)]
    table = "a,b,c\n" + "\n".join(rows) + "\n"
    args = [w for n, f in enumerate(BOTH) for w in ("--formula", f"f{n}={f}")]
    got = {lang: formula(table, *args, lang=lang) for lang in ("js", "py")}
    for n, f in enumerate(BOTH):
        js, py = (column(got[k], f"f{n}") for k in ("js", "py"))
        for row, x, y in zip(rows, js, py):
            same = x == y or (x[:1] in "-0123456789" and "/" not in x and
                              abs(float(x) - float(y)) <=
                              1e-9 * abs(float(x)))
            need(same, f"{f} of {row}: {x!r} in js, {y!r} in py")
        need(len(set(js)) > 1, f"{f}: {js[0]} throughout")


@case("what is of a whole column costs each row little, and is right")
def _():
    n = 20000
    table = "sku,price,n\n" + "".join(
        "K%d,%d.5,%d\n" % (i * 7919 % n, i % 100, i) for i in range(n))
    r = formula(table, "--formula", "a=price / SUM(rows.price)", "--formula",
                "b=VLOOKUP(sku, [rows.sku, rows.n], 2, False)", "--formula",
                "c=RANK(n, rows.n)", "--formula",
                "d=COUNTIF(rows.price, '>50') + MAX(rows.n)", "--formula",
                "e=MATCH('k%d' % n, rows.sku, 0)", "--formula",
                "f=XLOOKUP(n, rows.n, rows.sku)", "--row-time", "5s",
                timeout=60)
    rows = list(csv.DictReader(io.StringIO(r.out.decode())))
    total = sum(i % 100 + 0.5 for i in range(n))
    at = {i * 7919 % n: i for i in range(n)}
    for i, row in enumerate(rows):
        need(abs(float(row["a"]) - (i % 100 + 0.5) / total) < 1e-12, str(row))
        want = [str(i), str(n - i), str(n // 2 + n - 1), str(at[i] + 1),
                row["sku"]]
        need([row[k] for k in "bcdef"] == want, f"{row}: wanted {want}")
    need(len(rows) == n and r.seconds < 15 * SLOW, f"{r.seconds} s")


@case("an error in a column is found by whoever comes to it")
def _():
    table = "k,a\nx,1\ny,0\nz,2\n"
    r = formula(table, "--formula", "e=1 / a", "--formula", "s=SUM(rows.e)",
                "--formula", "m=MATCH(0.5, rows.e, 0)", "--formula",
                "n=MATCH(1, rows.e, 0)", "--formula", "c=COUNT(rows.e)",
                "--formula", "l=VLOOKUP(k, [rows.k, rows.e], 2, False)")
    need(column(r, "s") == column(r, "m") == ["#DIV/0!"] * 3, r.about())
    need(column(r, "n") == ["1"] * 3 and column(r, "c") == ["2"] * 3,
         r.about())
    need(column(r, "l") == ["1", "#DIV/0!", "0.5"], r.about())


if __name__ == "__main__":
    main()

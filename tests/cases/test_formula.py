#!/usr/bin/env python3
"""redoma formula: what formulas come to, and what tables in and out hold."""
import csv
import io
import json
import os
import pathlib
import random
import stat
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

csv.field_size_limit(1 << 24)
HERE = pathlib.Path(__file__).resolve().parent
ONE = "price,qty,name,blank,when\n120,3,Widget,,2024-02-29\n"


def formula(table, *args, ok=True, name="t.csv", lang="js", **kw):
    r = command("formula", "--lang", lang, *args, write(name, table), **kw)
    # 1: a formula came to an error in every row, as some do on purpose.
    need(not ok or r.code in (0, 1), r.about())
    return r


def column(r, name="result"):
    return [row[name] for row in csv.DictReader(io.StringIO(r.out.decode()))]


def value(expr, table=ONE, *args):
    return column(formula(table, expr, *args))


def examples(lang):
    rows = []
    for line in (HERE / "formulas.txt").read_text().splitlines():
        own, colon, rest = line.partition(": ")
        if own in ("js", "py") and colon:
            line = rest if own == lang else ""
        if line and not line.startswith("# "):
            text, _, cell = line.rpartition("=>")
            rows.append((text.strip(), cell.strip()))
    return rows


for _lang in ("js", "py"):
    @case(f"the helpers' table: {_lang}")
    def _(lang=_lang):
        rows = examples(lang)
        need(len(rows) > 300, f"{len(rows)} rows")
        args = []
        for n, (text, _) in enumerate(rows):
            args += ["--formula", f"f{n}={text}"]
        r = formula(ONE, *args, lang=lang)
        got = next(csv.DictReader(io.StringIO(r.out.decode())))
        wrong = []
        for n, (text, cell) in enumerate(rows):
            want = next(csv.reader([cell]), [""])[0] if cell else ""
            if got[f"f{n}"] != want:
                wrong.append(f"{text}: {got[f'f{n}']!r}, wanted {want!r}")
        need(not wrong, "\n  ".join([f"{len(wrong)} of {len(rows)}"] + wrong))


@case("other cells stay as they were, and no row is lost")
def _():
    table = ('id;note;x\r\n007;"a ""b""\nc";1.50\r\n\r\n'
             '9007199254740993;;\r\n1;z\r\n')
    r = formula(table, "x * 2")
    need(r.out.decode() == 'id;note;x;result\n007;"a ""b""\nc";1.50;3\n'
         '9007199254740993;;;0\n1;z;;0\n', r.about())


@case("formulas use each other, in whatever order they stand")
def _():
    r = formula("a\n1\n2\n0\n", "--formula", "d=c + 1", "--formula",
                "c=10 / b", "--formula", "b=a * 2", "--formula",
                "s=SUM(rows.b)", "--formula", "e=IFERROR(d, -1)")
    need(column(r, "d") == ["6", "3.5", "#DIV/0!"], r.about())
    need(column(r, "c") == ["5", "2.5", "#DIV/0!"], r.about())
    need(column(r, "s") == ["6", "6", "6"], r.about())
    need(column(r, "e") == ["6", "3.5", "-1"], r.about())
    r = formula("a\n1\n", "--formula", "x=y", "--formula", "y=x", ok=False)
    need(r.code == 5 and b"circle" in r.err, r.about())


@case("an error is its row's alone, and stderr counts them")
def _():
    r = formula("a\n1\n0\nx\n", "10 / a")
    need(column(r) == ["10", "#DIV/0!", "#VALUE!"], r.about())
    need(b"2 cells are an error: 1 #DIV/0!, 1 #VALUE!; the first in row 2"
         in r.err, r.about())


@case("a formula that does not parse is told by name")
def _():
    for text, says in (("1 +", "formula result"), ("(1", "not closed"),
                       ("1); (2", "closing"), ("a; b", "semicolon"),
                       ("", "empty"), ("IF(1)", "IF takes"),
                       ("await 1", "does not wait"), ("1 }) + ({", "closing"),
                       ("import('x')", "import"), ("'", "not closed")):
        r = formula(ONE, text, ok=False)
        need(r.code == 5 and says in r.err.decode(), f"{text}: {r.about()}")
        need(not r.out, r.about())


@case("an invalid formula leaves stdout empty; with --json it is JSON")
def _():
    for lang in ("js", "py"):
        r = formula(ONE, "price *", ok=False, lang=lang)
        need(r.code == 5 and not r.out and b"SyntaxError" in r.err, r.about())
        r = formula(ONE, "price *", "--json", ok=False, lang=lang)
        said = json.loads(r.out)
        need(r.code == 5 and said["status"] == "invalid" and
             said["error"]["name"] == "SyntaxError", r.about())
        out = scratch() / "refused.csv"
        r = formula(ONE, "price *", "--json", "-o", out, ok=False, lang=lang)
        need(json.loads(r.out)["status"] == "invalid" and
             not out.exists(), r.about())
        r = formula("price,qty\n", "price * 2", lang=lang)
        need(r.out == b"price,qty,result\n", r.about())


@case("an assignment is no formula: who meant to compare is told how")
def _():
    for text in ("price = 3", "IF(price = 20, 1, 2)", "[price = 3]",
                 "IF(AND(price > 1, qty=3), 1, 2)", "SUM(qty = 3)",
                 "IFERROR(qty = 3, 0)", "`${qty = 3}`", "(() => qty = 3)()",
                 "qty > 1 ? name = 'x' : 2", "(qty = 3)", "== 3 = 4"):
        r = formula(ONE, text, ok=False)
        need(r.code == 5 and b"compare with `===`" in r.err,
             f"{text}: {r.about()}")
    for text, want in (("= price === 120", "true"), ("price == '120'", "true"),
                       ("((x = price) => x + 1)()", "121"), ("qty<=3", "true"),
                       ("(({ x = 7 }) => x)({})", "7"), ("qty>=3", "true"),
                       ("(() => { let x = 1; x += qty; return x; })()", "4"),
                       ("name !== '='", "true"), ("qty != 4 && 1", "1"),
                       ("[1, 2].map(x => x * qty).join()", '3,6'),
                       ("/a=b/.test('a=b')", "true"), ("`=` + '='", "==")):
        need(value(text) == [want], f"{text}: {value(text)}")


@case("a column that there is not is #NAME?")
def _():
    for text in ("rows.nope", "col['nope']", "row.nope", "rows['nope']",
                 "col['no' + 'pe']", "SUM(rows.nope)", "col.nope + 1"):
        r = formula(ONE, text)
        need(column(r) == ["#NAME?"] and b"no column" in r.err and
             b"nope" in r.err, f"{text}: {r.about()}")
    for text, want in (("'nope' in row", "false"), ("IFERROR(row.nope, 5)", "5"),
                       ("Object.keys(rows).length", "5"),
                       ("[{ x: 1 }].map((row) => row.y ?? 2)[0]", "2"),
                       ("JSON.stringify(row).length > 20", "true"),
                       ("VLOOKUP(120, rows, 2)", "3"),
                       ("`${row[Symbol.iterator]}`", "undefined"),
                       ("row.price + col['qty']", "123")):
        need(value(text) == [want], f"{text}: {value(text)}")


@case("names of columns are data")
def _():
    table = "__proto__,constructor,Unit price,SUM,class,preço,rows\n" \
            "1,2,3,4,5,6,7\n"
    for text, want in (("__proto__", "1"), ("constructor", "2"),
                       ('col["Unit price"]', "3"), ('col["SUM"]', "4"),
                       ("SUM(1, 2)", "3"), ("col['class']", "5"),
                       ("preço", "6"), ("col.rows", "7"),
                       ('row["__pro" + "to__"]', "1"),
                       ("Object.getPrototypeOf(row) === null", "true"),
                       ("Object.keys(row).length", "7"),
                       ("'x' in row", "false")):
        need(value(text, table) == [want], f"{text}: {value(text, table)}")


@case("JSON Lines, and from one form to the other")
def _():
    lines = '{"a": 1, "s": "x\\ny"}\n\n{"a":2.5,"b":[1],"d":"2024-01-01"}\n{}\n'
    r = formula(lines, "IF(a, a * 2, s)", name="t.jsonl")
    got = [json.loads(x) for x in r.out.splitlines()]
    need([x["result"] for x in got] == [2, 5, None], r.about())
    need(got[1]["b"] == [1] and got[2] == {"result": None}, r.about())
    out = scratch() / "out.csv"
    formula(lines, "a / 0", "-o", out, name="t.jsonl")
    got = list(csv.DictReader(out.open(newline="")))
    need(got[0]["s"] == "x\ny" and got[0]["result"] == "#DIV/0!", str(got))
    out = scratch() / "out.jsonl"
    formula('a,b,c\n1,"x ""y""",2024-01-02\n,z,\n', "a / 0", "-o", out)
    got = [json.loads(x) for x in out.read_text().splitlines()]
    need(got[0]["a"] == 1 and got[0]["b"] == 'x "y"' and
         got[0]["c"] == "2024-01-02" and
         got[0]["result"]["error"] == "#DIV/0!", str(got))
    need(got[1]["a"] is None, str(got))
    r = formula('{"a":1}\nx\n', "a", ok=False, name="t.jsonl")
    need(r.code == 2 and b"line 2" in r.err, r.about())


@case("an output is whole or not there")
def _():
    out = scratch() / "whole.csv"
    r = formula("a\n1\n", "while", "-o", out, ok=False)
    need(r.code == 5 and not out.exists(), r.about())
    need(not list(scratch().glob("*.part")), "a part was left")
    formula("a\n1\n", "a", "-o", out)
    need(out.read_text() == "a,result\n1,1\n", out.read_text())


@case("an output has the mode and the owner of what it replaces")
def _():
    out = scratch() / "kept.csv"
    before = os.umask(0o027)
    try:
        formula("a\n1\n", "a", "-o", out)
        need(out.stat().st_mode == 0o100640, oct(out.stat().st_mode))
        out.chmod(0o604)
        if os.geteuid() == 0:
            os.chown(out, 65533, 65532)
        was = out.stat()
        formula("a\n2\n", "a", "-o", out)
    finally:
        os.umask(before)
    got = out.stat()
    need(out.read_text() == "a,result\n2,2\n", out.read_text())
    need((got.st_mode, got.st_uid, got.st_gid) ==
         (was.st_mode, was.st_uid, was.st_gid), f"{got} {was}")


@case("a million cells are those of a plain loop")
def _():
    rng = random.Random(5)
    rows = [(round(rng.uniform(1, 200), 2), rng.randrange(1, 9), "k%d" % n)
            for n in range(100000)]
    table = "price,qty,key\n" + "".join("%s,%d,%s\n" % r for r in rows)
    got = value("IF(qty > 3, price * qty, 0)", table)
    want = [p * q if q > 3 else 0 for p, q, _ in rows]
    need(len(got) == len(want), f"{len(got)} rows")
    for n, (a, b) in enumerate(zip(got, want)):
        need(float(a) == b, f"row {n}: {a}, wanted {b}")


@case("memory does not grow with the table")
def _():
    row = "1234.5,7," + "x" * 100 + "\n"
    table = "price,qty,note\n" + row * 1500000  # 165 MB
    r = command("formula", "--lang", "js", "price * qty", "-",
                stdin=table.encode(), timeout=100)
    need(r.code == 0 and r.out.count(b"\n") == 1500001, r.text[-300:])


@case("-o to what is no file is written into, and stays what it is")
def _():
    pipe = scratch() / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    formula("n\n1\n", "n + 1", "-o", pipe)
    got = os.read(end, 100)
    os.close(end)
    need(got == b"n,result\n1,2\n", str(got))
    need(stat.S_ISFIFO(pipe.lstat().st_mode), "a file is in its place")


@case("-o through a link writes the file behind it")
def _():
    table = write("t.csv", "a\n1\n")
    real, link = table.with_name("real.csv"), table.with_name("link.csv")
    real.write_text("old")
    link.symlink_to(real.name)
    r = command("formula", "a*2", table, "-o", link)
    need(r.code == 0 and link.is_symlink(), r.about())
    need(real.read_text() == "a,result\n1,2\n", real.read_text())
    real.unlink()
    r = command("formula", "a*2", table, "-o", link)
    need(r.code == 2 and link.is_symlink() and b"not there" in r.err, r.about())


@case("thousands of columns of one name are told apart in little time")
def _():
    names = ",".join(["a_3", "", "a"] + ["a"] * 7997)
    r = formula(f"{names},column2,\n" + "1," * 8001 + "1\n",
                "a + a_2 + a_3 + a_4 + a_7999 + column2_2", timeout=60)
    need(r.out.decode().splitlines()[1].endswith(",6"), r.about()[:400])


@case("names that are there twice: in the header, and of what is new")
def _():
    r = formula("a,b,a\n1,2,3\n", "a_2 * 10 + a")
    need(r.out == b"a,b,a,result\n1,2,3,31\n" and
         b'column 3 has a name that another column has: in formulas it is "a_2"'
         in r.err, r.about())
    for args in (("qty * 2", "--as", "qty"), ("--formula", "qty=qty * 2")):
        out = scratch() / "twice.csv"
        r = formula("price,qty\n1,2\n", *args, "-o", out, ok=False)
        need(r.code == 2 and b'has a column "qty" already' in r.err and
             not out.exists(), r.about())


@case("cells that no formula can take are written as they were")
def _():
    rows = ('{"a":1,"t":["x","y"],"o":{"k":1.50,"\u00e9":"\\"q"},"n":1e400}\n'
            '{"a":2,"t":[],"o":null,"n":"1"}\n')
    out = scratch() / "cells.csv"
    formula(rows, "a", "-o", out, name="t.jsonl")
    got = list(csv.reader(out.read_text().splitlines()))
    need(got == [["a", "t", "o", "n", "result"],
                 ["1", '["x","y"]', '{"k":1.50,"\u00e9":"\\"q"}', "1e400", "1"],
                 ["2", "[]", "", "1", "2"]], str(got))
    r = formula(rows, "t", name="t.jsonl")
    need(json.loads(r.out.splitlines()[0])["result"]["error"] == "#VALUE!" and
         r.code == 1, r.about())
    out = scratch() / "cells.jsonl"
    formula("p\n10\n007\n", "p", "--type", "p=number", "-o", out)
    need(json.loads(out.read_text().splitlines()[1])["p"] == "007",
         out.read_text())


@case("exit code: 1 if every row of a formula failed, and it is written")
def _():
    two = "a\n1\n0\n"
    for args, code in ((("nope",), 1), (("1 / a",), 0), (("a",), 0),
                       (("a", "--as", "x", "--formula", "y=nope"), 1),
                       (("nope", "-q"), 1)):
        out = scratch() / "lost.csv"
        r = formula(two, *args, "-o", out, ok=False)
        need(r.code == code and out.exists(), f"{args}: {r.about()}")
        need((b"every cell of" in r.err) == (code == 1 and "-q" not in args),
             r.about())
    r = formula(two, "--formula", "x=nope", "--formula", "y=x", ok=False)
    need(b'every cell of "x", "y" is an error' in r.err, r.about())
    r = formula("a\n", "nope", ok=False)
    need(r.code == 0 and r.out == b"a,result\n", r.about())


@case("a formula that is wrong: the place, and how the language writes it")
def _():
    def said(expr, lang, *args):
        r = formula("price,qty\n1,2\n", expr, *args, lang=lang, ok=False)
        return r.code, r.err.decode()

    for lang in ("py", "js"):
        code, text = said("  IF(price;1;2)", lang)
        need(code == 5 and text.endswith(
            "redoma:       IF(price;1;2)\n"
            "redoma:               ^ a comma separates arguments\n"), text)
        code, text = said("price ÷ é +", lang)
        need(code == 5 and "\nredoma:           ^ divided by" in text, text)
        code, text = said("1 +\n price = 3", lang)
        need(code == 5 and "redoma:      price = 3\n" in text and
             "1 +" not in text and "compares" in text, text)
        need("^" not in said("IF(price;1;2)", lang, "-q")[1], "quiet")
        code, text = said("x" * 300 + ";" + "y" * 300, lang)
        need("^ a formula is one" in text and max(map(len, text.splitlines())) < 120,
             text)
        for expr, says in (("prise * 2", 'did you mean "price"?'),
                           ("Sum(price)", "in capitals"),
                           ("A1 + B2", "named by its column")):
            code, text = said(expr, lang)
            need(code == 1 and says in text, f"{expr}: {text}")
    code, text = said("é + qty qty", "py")
    need("(line 1, column 9)" in text and
         text.endswith("    é + qty qty\nredoma:             ^\n"), text)
    code, text = said(" = 1 +\n  lambda", "py")
    need("(line 2, column 3)" in text and
         text.endswith("      lambda\nredoma:       ^\n"), text)
    code, text = said(" = qty\n + x y", "py")
    need("(line 1, column 4)" in text, text)
    for lang in ("py", "js"):
        r = formula("Unit price,qty\n1,2\n", "qty * Unit price", lang=lang,
                    ok=False)
        need(r.code == 5 and b'          ^ write col["Unit price"]' in r.err,
             r.about())
        r = formula("Unit price,a\n1,2\n", "Unit_price + b", lang=lang)
        need(b'did you mean col["Unit price"]?' in r.err, r.about())
        r = formula("a,q\n1,2\n", "b", lang=lang)
        need(b"did you mean" not in r.err, r.about())
    code, text = said("price + 1", "py", "--formula", "b=qty ^", "--as", "a")
    need("^ a power" in text, text)


@case("-o - is standard output")
def _():
    r = command("formula", "a + 1", write("t.csv", "a\n1\n"), "-o", "-",
                cwd=scratch())
    need(r.out == b"a,result\n1,2\n" and not (scratch() / "-").exists(),
         r.about())


@case("refusals say what to do")
def _():
    t = write("t.csv", "a,b\n1,2\n")
    for args, says in ((("a",), "needs an expression"),
                       (("a", t, "--lang", "lua"), "js or py"),
                       (("a", t, "--type", "zz=number"), "no column"),
                       (("a", t, "--type", "a=float"), "number integer"),
                       (("a", t, "--row-time", "2h"), "unit of time"),
                       (("a", scratch() / "none.csv"), "No such file"),
                       (("a", write("empty.csv", "")), "empty"),
                       (("a", t, "--as", ""), "needs a name"),
                       (("a", t, "-o", ""), "-o needs a name"),
                       (("a", t, "-o", scratch()), "name a file in it"),
                       (("a", t, "-o", scratch() / "no" / "o.csv"),
                        "make it first"),
                       (("a", t, "-o", "/dev/full"),
                        'write to "/dev/full": No space'),
                       (("a", t, "-o", scratch() / "o.xlsx"), ".jsonl"),
                       (("a", t, "-o", write("p.csv.part", "").with_suffix("")),
                        "delete it"),
                       (("--formula", "x", t), "NAME=EXPR")):
        r = command("formula", *args)
        need(r.code in (2, 70) and says in r.text, f"{args}: {r.about()}")


@case("an output that does not fit is named, and nothing of it is left")
def _():
    t = write("long.csv", "a\n" + "12345678\n" * 20000)
    few = write("few.sh", f'#!/bin/sh\nulimit -f 8\nexec {REDOMA} "$@"\n')
    few.chmod(0o755)
    for to in ("csv", "jsonl", "arrow"):
        out = scratch() / f"cut.{to}"
        r = command("formula", "a", t, "-o", out, program=str(few))
        need(r.code == 70 and "File too large: ulimit -f" in r.text and
             f"cut.{to}" in r.text, r.about())
        need(not list(scratch().glob("cut.*")), f"{to}: something is left")


if __name__ == "__main__":
    main()

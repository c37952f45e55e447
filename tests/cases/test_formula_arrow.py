#!/usr/bin/env python3
"""redoma formula on Arrow's files and streams: what pyarrow wrote, as it is in
tests/arrow, is read as it says, and what we write is read back as it was."""
import json
import os
import pathlib
import pty
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

HERE = pathlib.Path(__file__).resolve().parent.parent / "arrow"


def formula(*args, ok=True, **kw):
    r = command("formula", "--lang", "js", *args, **kw)
    need(not ok or r.code == 0, r.about())
    return r


def lines(data):
    return [json.loads(line) for line in data.splitlines()]


def golden(name):
    return lines((HERE / name).read_bytes())


def without(rows, name="result"):
    return [{k: v for k, v in row.items() if k != name} for row in rows]


def out(name):
    p = scratch() / name
    p.unlink(missing_ok=True)
    return p


def says(r, *words):
    need(r.code == 2, r.about())
    for w in words:
        need(w.encode() in r.err, f"no {w!r}: {r.about()}")


for _file, _want in (("types.arrow", "types.jsonl"),
                     ("types.arrows", "types.jsonl"),
                     ("types.feather", "types.jsonl"),
                     ("batches.arrow", "batches.jsonl"),
                     ("batches.arrows", "batches.jsonl"),
                     ("dictionaries.arrows", "dictionaries.jsonl")):
    @case(f"what pyarrow wrote is read, named and by a pipe: {_file}")
    def _(file=_file, want=_want):
        for a, kw in (((HERE / file,), {}),
                      (("-", "--format", "arrow"),
                       {"stdin": (HERE / file).read_bytes()})):
            r = formula("index", *a, "--to", "jsonl", **kw)
            rows = lines(r.out)
            need(without(rows) == golden(want), r.about())
            need([row["result"] for row in rows] == list(range(len(rows))),
                 r.about())

    @case(f"what is written as Arrow is read as it was: {_file}")
    def _(file=_file, want=_want):
        for to in ("arrow", "arrows"):
            p = out("again." + to)
            formula("index * 2", HERE / file, "-o", p)
            rows = lines(formula("result", p, "--to", "jsonl", "--as",
                                 "r").out)
            need([row["result"] for row in rows] ==
                 [row["r"] for row in rows] ==
                 list(range(0, 2 * len(rows), 2)), str(rows)[:500])
            need(without(without(rows), "r") == golden(want),
                 str(rows)[:500])


@case("without -o an Arrow table goes out in the form that came in")
def _():
    for name, start in (("types.arrow", b"ARROW1\0\0"),
                        ("types.arrows", b"\xff\xff\xff\xff")):
        data = (HERE / name).read_bytes()
        r = formula("1", "-", "--format", "arrow", stdin=data)
        need(r.out.startswith(start), r.about())
        again = formula("1", "-", "--format", "arrow", "--to", "jsonl",
                        "--as", "r", stdin=r.out)
        need(len(lines(again.out)) == 4, again.about())


@case("a table without a row keeps its columns")
def _():
    for name in ("empty.arrow", "empty.arrows"):
        need(formula("i", HERE / name, "--to", "csv").out ==
             b"i,b,s,result\n", name)
        p = out(name)
        formula("i", HERE / name, "-o", p)
        need(formula("1", p, "--to", "csv", "--as", "r").out ==
             b"i,b,s,result,r\n", name)


@case("formulas see cells of their kinds, and whole columns")
def _():
    r = formula("--formula", "a=i32 + u16", "--formula", "c=YEAR(d32)", "--formula", "d=b ? 1 : 0",
                "--formula", "e=COUNT(rows.i32)", "--formula",
                "f=DAYS(tms, ts)", "--formula", "g=typeof u64",
                HERE / "types.arrow", "--to", "jsonl")
    got = [[row[k] for k in "acefg"] for row in lines(r.out)]
    need(got[0] == [2, 2024, 3, 0, "number"], r.about())
    need(got[3][2:] == [3, 0, "string"], r.about())
    need([row["d"] for row in lines(r.out)] == [1, 0, 0, 1], r.about())


@case("CSV and JSON Lines become Arrow and come back")
def _():
    table = ("n,x,t,d,w,s\n1,1.5,true,2024-02-29,2024-02-29T10:20:30.5Z,a\n"
             ",,,,,\n-3,2,false,1969-12-31,1969-12-31T23:59:59Z,\"b,\"\"c\"\n")
    want = table.replace("s\n", "s,result\n", 1).replace("Z,a", "Z,a,2") \
        .replace(",,,,,\n", ",,,,,,1\n").replace('c"\n', 'c",-2\n')
    for name in ("t.arrow", "t.arrows"):
        p = out(name)
        formula("n + 1", write("t.csv", table), "-o", p)
        r = formula("null", p, "--to", "csv", "--as", "r")
        need(r.out.decode().replace(",r\n", "\n").replace(",\n", "\n") ==
             want, r.about())
    p = out("j.arrow")
    formula("v", write("t.jsonl", '{"v":1}\n{"v":"x"}\n{"v":null}\n'),
            "-o", p)
    need(lines(formula("1", p, "--to", "jsonl", "--as", "r").out)[:2] ==
         [{"v": "1", "result": "1", "r": 1},
          {"v": "x", "result": "x", "r": 1}], "kinds that join are texts")


@case("an error is a null, and is counted")
def _():
    p = out("e.arrow")
    r = formula("1 / v", write("t.csv", "v\n1\n0\n"), "-o", p)
    need(b"1 cell is an error: 1 #DIV/0!" in r.err, r.about())
    need(lines(formula("1", p, "--to", "jsonl", "--as", "r").out)[1]
         ["result"] is None, "null")


@case("bytes that are not UTF-8 become U+FFFD")
def _():
    p = out("u.arrow")
    formula("v", write("t.csv", b"v\na\xff\xc3b\n"), "-o", p)
    need(lines(formula("1", p, "--to", "jsonl", "--as", "r").out)[0]["v"] ==
         "a\ufffd\ufffdb", "replaced")


@case("a later cell that its column's type does not take ends the table")
def _():
    rows = "".join(f"{n}\n" for n in range(66000))
    table = write("late.csv", "v\n" + rows + "0.5\n")
    p = out("late.arrow")
    r = formula("v", table, "-o", p, ok=False)
    says(r, 'column "v" was begun as Arrow\'s int64, and row 66001 of it is a '
         "number", "--type v=number")
    need(not p.exists(), "nothing appears")
    formula("v", table, "-o", p, "--type", "v=number", "--type",
            "result=number")
    r = formula("v > 65990", p, "--to", "csv", "--as", "r")
    need(r.out.endswith(b"65999,65999,true\n0.5,0.5,false\n"), r.about())
    # A formula's column has the type that was stated, from the first row on.
    p = out("text.arrow")
    formula("index", table, "-o", p, "--type", "v=number", "--type",
            "result=text")
    need(lines(formula("1", p, "--to", "jsonl", "--as", "r").out)[7] ==
         {"v": 7, "result": "7", "r": 1}, "a text")


@case("other types and forms are refused, by column and type")
def _():
    for name, word in (("list", "list"), ("decimal", "decimal"),
                       ("binary", "binary"), ("time32", "time"),
                       ("half", "halffloat"), ("duration", "duration"),
                       ("struct", "struct"),
                       ("dictionary", "int in a dictionary")):
        says(formula("1", HERE / f"no_{name}.arrow", "--to", "csv", ok=False),
             f'column "odd" has Arrow\'s type {word}, which no cell has')
    for name, word in (("lz4.arrow", "lz4"), ("zstd.arrows", "zstd")):
        says(formula("1", HERE / name, "--to", "csv", ok=False),
             f"compressed ({word})", 'compression="uncompressed"')
    says(formula("1", HERE / "legacy.arrows", "--to", "csv", ok=False),
         "before Arrow 0.15")
    says(formula("1", write("x.arrow", "a,b\n1,2\n"), "--to", "csv",
                 ok=False), "no Arrow IPC file or stream")
    says(formula("1", HERE / "types.arrow", "--type", "i8=text", ok=False),
         'column "i8" cannot have a type stated')
    for option in ("--format", "--to"):
        says(formula("1", HERE / "types.arrow", option, "xml", ok=False),
             f"{option} is csv, jsonl, arrow or arrows, not \"xml\"")


@case("a file that ends in the middle of a batch leaves nothing")
def _():
    data = (HERE / "types.arrow").read_bytes()
    p = out("cut.out.arrow")
    r = formula("1", write("cut.arrow", data[:3500]), "-o", p, ok=False)
    says(r, "the Arrow table is damaged at its message", "ends in the middle")
    need(not p.exists(), "nothing appears")


@case("a terminal gets no Arrow")
def _():
    ours, theirs = pty.openpty()
    p = subprocess.run([REDOMA, "formula", "1", str(HERE / "types.arrow")],
                       stdout=theirs, stderr=subprocess.PIPE, timeout=20)
    need(p.returncode == 2 and b"nothing for a terminal" in p.stderr,
         str(p.stderr))
    os.close(ours)
    os.close(theirs)


if __name__ == "__main__":
    main()

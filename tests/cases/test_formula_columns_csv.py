#!/usr/bin/env python3
"""redoma formula, of CSV, JSON Lines and Arrow: a simple formula gives what it
gives in [...][0], which no column program computes.  What programs compute of
columns of all kinds, and that they do, is tests/cases/formula_columns.c."""
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

ROWS = 1500
CELLS = ["", "0", "1", "-1", "2", "3", "-7", "0.0", "-0.0", "1.5", "1e308",
         "-1e308", "5e-324", "0.1", "9007199254740991", "9007199254740992",
         "-9007199254740992", "true", "false", "x", "1e5"]
FORMULAS = {
    "js": ["a * b", "a > 3 ? a * b : 0", "IF(b > a, c, d)", "a % b + c / d",
           "AND(a, d) || NOT(c)", "IFERROR(a / b, c)", "-d", "a === c", "t",
           "IFS(a > b, c, t, d, true, index)", "ABS(d) - a", "p0 + p1"],
    "py": ["a * b", "a * b if a > 3 else 0", "IF(b > a, c, d)",
           "a % b + c / d", "AND(a, d) or NOT(c)", "IFERROR(a / b, c)", "-d",
           "a // b == c", "t", "IFS(a > b, c, t, d, True, index)",
           "ABS(d) - a", "p0 + p1"]}


def plain(rng):
    """A kind for each column: integers, and with a blank here and there; numbers;
    numbers of all kinds; truths."""
    return [str(rng.randint(-9, 9)),
            "" if rng.random() < .01 else str(rng.randint(0, 5)),
            repr(rng.randint(-500, 500) / 8), repr(rng.uniform(-1e9, 1e9)),
            rng.choice(["true", "false"])]


def mixed(rng):
    return [rng.choice(CELLS) if rng.random() < .6 else cell
            for cell in plain(rng)]


def csv_of(rows):
    return "a,b,c,d,t\n" + "".join(",".join(r) + "\n" for r in rows)


def compare(lang, path):
    """Each cell as it is written, and each error with its message."""
    texts = FORMULAS[lang]
    args = []
    for i, text in enumerate(texts):
        args += ["--formula", f"p{i}={text}", "--formula", f"q{i}=[{text}][0]"]
    r = command("formula", "--lang", lang, *args, path, "--to", "jsonl",
                "--row-time", "10s")
    need(r.code == 0, r.about())
    lines = r.out.decode().splitlines()
    need(len(lines) == ROWS, f"{len(lines)} rows")
    for n, line in enumerate(lines):
        row = json.loads(line, parse_float=lambda s: "float " + s)
        for i, text in enumerate(texts):
            p, q = json.dumps(row[f"p{i}"]), json.dumps(row[f"q{i}"])
            need(p == q, f"{lang}: {text}: row {n}: {p}, {q}: {line}")


@case("cells of one kind in each column")
def _():
    rng = random.Random(3)
    path = write("t.csv", csv_of([plain(rng) for _ in range(ROWS)]))
    arrow = path.parent / "t.arrow"
    r = command("formula", "1", path, "-o", arrow)
    need(r.code == 0, r.about())
    for lang in FORMULAS:
        compare(lang, path)
        compare(lang, arrow)


@case("cells of all kinds")
def _():
    rng = random.Random(4)
    for _ in range(2):
        path = write("t.csv", csv_of([mixed(rng) for _ in range(ROWS)]))
        for lang in FORMULAS:
            compare(lang, path)


@case("one block of another kind")
def _():
    rng = random.Random(5)
    rows = [mixed(rng) if 300 < n < 800 else plain(rng) for n in range(ROWS)]
    path = write("t.csv", csv_of(rows))
    for lang in FORMULAS:
        compare(lang, path)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""redoma formula: each cell of a table has the kind of its own text, and a row
that is not as the others are is that row's matter."""
import csv
import io
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

LANGS = ("py", "js")
# Cells, and what they come to as a number twice over.
CELLS = [("1", "2"), ("2.5", "5"), ("-3", "-6"), ("1e3", "2000"), ("0", "0"),
         (" 4", "8"), ("5 ", "10"), ("\t6", "12"), (" -1.5 ", "-3")]
TEXTS = ["N/A", "n/a", "-", "007", "1,000", "x", "12 EUR", "$5", "0x10",
         "12345678901234567890", "--1", "1.2.3", "2024-13-01"]


def formula(table, *args, lang="py", code=0, name="t.csv"):
    r = command("formula", "--lang", lang, *args, write(name, table))
    need(r.code == code or code is None, r.about())
    return r


def rows_of(r):
    return list(csv.DictReader(io.StringIO(r.out.decode(), newline="")))


def column(r, name="result"):
    return [row[name] for row in rows_of(r)]


def lines(*cells):
    return "a,b\n" + "".join(f"{put(c)},1\n" for c in cells)


def put(cell):
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([cell, ""])
    return out.getvalue()[:-1]


@case("one text leaves the other cells of its column numbers")
def _():
    for lang in LANGS:
        for text in TEXTS:
            r = formula(lines("1", text, "3"), "a - 1", lang=lang)
            got = column(r)
            # JavaScript reads a number from a text where only a number can be.
            js = {"007": "6", "12345678901234567890": "12345678901234567000.0",
                  "0x10": "15"} if lang == "js" else {}
            need(got == ["0", js.get(text, "#VALUE!"), "2"],
                 f"{lang} {text}: {got}")
        for whole, want in (("SUM(rows.a)", "4"), ("COUNT(rows.a)", "2"),
                            ("AVERAGE(rows.a)", "2"), ("MAX(rows.a)", "3"),
                            ("COUNTA(rows.a)", "3"),
                            ("COUNTIF(rows.a, 'N/A')", "1"),
                            ("COUNTIF(rows.a, '>2')", "1"),
                            ("SUMIF(rows.a, '>0', rows.b)", "2"),
                            ("VLOOKUP('N/A', [rows.a, rows.b], 2, false)", "1"),
                            ("VLOOKUP(3, [rows.a, rows.b], 2, false)", "1"),
                            ("MATCH(3, rows.a, 0)", "3")):
            got = column(formula(lines("1", "N/A", "3"), whole, lang=lang))
            need(got == [want] * 3, f"{lang} {whole}: {got}")
    r = formula(lines("1", "N/A", "3"), "a * 2")
    need(column(r) == ["2", "#VALUE!", "6"] and b"REPT repeats" in r.err,
         r.about())
    r = formula(lines("1", "N/A", "3"), "a * 2", lang="js")
    need(column(r) == ["2", "#VALUE!", "6"] and
         b"a text in column a" in r.err, r.about())


@case("what a cell is does not depend on where it stands, nor on what is near")
def _():
    rng = random.Random(12)
    pool = [c for c, _ in CELLS] + TEXTS + ["", " ", "true", "FALSE",
                                            "2024-02-29", "2024-02-29T10:00Z"]
    exprs = {"py": ("a * 2", "f'{a!r}'",
                    "IF(ISNUMBER(a), 'n', IF(ISTEXT(a), 't', 'o'))", "[a][0]"),
             "js": ("a * 2", "typeof a + String(a)", "a", "ISBLANK(a)")}
    for lang in LANGS:
        args = []
        for n, e in enumerate(exprs[lang]):
            args += ["--formula", f"f{n}={e}"]

        def told(cells):
            return [tuple(row[f"f{n}"] for n in range(4)) for row in
                    rows_of(formula(lines(*cells), *args, "--limit",
                                    "wall=60s", lang=lang, code=None))]

        alone = {c: told([c])[0] for c in pool}
        need(len(set(alone.values())) > 12, str(alone))
        for _ in range(3):
            cells = rng.choices(pool, k=2000)
            for i, (c, got) in enumerate(zip(cells, told(cells))):
                need(got == alone[c], f"{lang} row {i} {c!r}: {got}, alone "
                     f"{alone[c]}")


@case("a text behind the first block, and one in it, are the same")
def _():
    for lang in LANGS:
        for at in (0, 59999, 65536, 79999):
            cells = [str(n) for n in range(80000)]
            cells[at] = "N/A"
            got = column(formula(lines(*cells), "a * 2", lang=lang))
            want = [str(2 * n) for n in range(80000)]
            want[at] = "#VALUE!"
            need(got == want, f"{lang} {at}: " + str(
                [(i, a, b) for i, (a, b) in enumerate(zip(got, want))
                 if a != b][:3]))


@case("blanks around names, numbers, dates and truths are skipped")
def _():
    table = " a ,\tb, c,d \n 1 , 2,\t2024-02-29 , true\n  ,3, x ,\n"
    for lang in LANGS:
        got = rows_of(formula(table, "--formula", "s=a + b", "--formula",
                              "y=YEAR(c)", "--formula", "t=d", "--formula",
                              "n=ISBLANK(a)", "--formula", "l=LEN(c)",
                              lang=lang))
        need([got[0][k] for k in "sytn"] == ["3", "2024", "true", "false"] and
             got[1]["n"] == "true" and got[1]["l"] == "3", f"{lang}: {got}")
        need(list(got[0])[:4] == [" a ", "\tb", " c", "d "], str(got[0]))
        for quoted in ('"a "', '" a"'):  # what is quoted is meant
            r = formula(f"{quoted},b\n1,2\n", f"col[{quoted}] + b", lang=lang)
            need(column(r) == ["3"], r.about())


@case("a quote opens a field only as its first character")
def _():
    for lang in LANGS:
        size = "LEN(b)"
        table = 'a,b\n1, "x"\n2,"x"y\n3,x"y\n4,"x,y"\n5, "x,y"\n'
        r = formula(table, size, lang=lang)
        need(column(r) == ["4", "2", "3", "3", "#VALUE!"], r.about())
        r = formula('a, "b"\n1,2\n', "col['\"b\"']", lang=lang)
        need(column(r) == ["2"], r.about())


@case("a kind that was stated rules")
def _():
    for lang in LANGS:
        for kind, want in (("number", ["1", "#VALUE!", "", "2.5"]),
                           ("integer", ["1", "#VALUE!", "", "#VALUE!"]),
                           ("text", ["1", "N/A", "", "2.5"])):
            r = formula(lines("1", "N/A", "", "2.5"), "a", "--type",
                        f"a={kind}", lang=lang)
            need(column(r) == want, f"{lang} {kind}: {r.about()}")
        got = column(formula("z\n01234\n90210\n", "z + z", "--type", "z=text",
                             lang=lang))
        need(got == ["0123401234", "9021090210"], str(got))
        r = formula('a,b\n"",1\n,2\n', "ISBLANK(a)", lang=lang)
        need(column(r) == ["true", "true"], r.about())
        r = formula('a,b\n"",1\n,2\n', "ISBLANK(a)", "--type", "a=text",
                    lang=lang)
        need(column(r) == ["false", "true"], r.about())


@case("a row of too many fields is that row's error, and keeps its columns")
def _():
    for lang in LANGS:
        r = formula('a,b\n1,2\n1,2,3\n"4","5 ""x""",\'6\',7\n4,5\n',
                    "--formula", "s=a + b", "--formula", "i=index", lang=lang)
        need(r.out.decode() == 'a,b,s,i\n1,2,3,0\n1,"2,3",#VALUE!,1\n'
             '"4","""5 """"x"""""",\'6\',7",#VALUE!,2\n4,5,9,3\n', r.about())
        need(b"more fields than the header" in r.err and
             b"first in row 2" in r.err, r.about())
        r = formula("a\n1\n1,2\n", "IFERROR(a, -1)", lang=lang)
        need(column(r) == ["1", "-1"], r.about())
        # A delimiter at the end of each row is no field.
        r = formula("a,b\n1,2,\n3,4, ,\n", "a + b", lang=lang)
        need(r.out == b"a,b,result\n1,2,3\n3,4,7\n", r.about())
        # A whole column that such a row is in has an error, which is told.
        r = formula("a,b\n1,2\n1,2,3\n", "SUM(rows.a)", lang=lang, code=1)
        need(column(r) == ["#VALUE!"] * 2, r.about())


@case("a row of too few fields has blanks, and that is told")
def _():
    for lang in LANGS:
        r = formula("a,b,c\n1,2,3\n4\n\n5,6\n", "ISBLANK(b) && ISBLANK(c)"
                    if lang == "js" else "ISBLANK(b) and ISBLANK(c)", lang=lang)
        need(r.out == b"a,b,c,result\n1,2,3,false\n4,,,true\n5,6,,false\n",
             r.about())
        need(b"2 rows have fewer fields than the header has names, line 3 for "
             b"one" in r.err, r.about())


@case("whatever fields rows have, what is written has its columns")
def _():
    rng = random.Random(41)
    parts = ["", "1", "x", "a b", '"', ",", "\n", "é", " "]
    for _ in range(6):
        columns = rng.randrange(1, 6)
        given = [["".join(rng.choices(parts, k=rng.randrange(0, 3)))
                  for _ in range(rng.randrange(1, 9))] for _ in range(300)]
        out = io.StringIO(newline="")
        w = csv.writer(out, lineterminator="\n")
        w.writerow([f"c{n}" for n in range(columns)])
        # One empty field is an empty line, which is no row of several.
        given = [row for row in given if row != [""] or columns == 1]
        w.writerows(given)
        r = formula(out.getvalue(), "index")
        got = list(csv.reader(io.StringIO(r.out.decode(), newline="")))[1:]
        need(len(got) == len(given), f"{len(got)} of {len(given)} rows")
        for n, (a, b) in enumerate(zip(got, given)):
            need(len(a) == columns + 1 and a[-1] == str(n), f"{a} {b}")
            need(a[:columns - 1] == (b + [""] * columns)[:columns - 1],
                 f"{a} {b}")
            rest = b[columns - 1:]
            if not any(x.strip(" \t") for x in rest[1:]):
                need(a[columns - 1] == (rest or [""])[0], f"{a} {b}")
            else:
                need(next(csv.reader(io.StringIO(a[columns - 1], newline="")))
                     == rest, f"{a} {b}")


@case("a mixed column is told with a way out, others are not")
def _():
    def said(cells, *args):
        return formula(lines(*cells), *args).err.decode()

    text = said(["1", "2", "007"], "a")
    need('column "a": row 3 has "007", a text among numbers. By --type '
         "'a=number' such a cell is an error, by --type 'a=text' each cell is "
         "a text" in text, text)
    for cells in (["02134", "90210", "01001"], ["1", "2", "N/A"],
                  ["true", "false", "x"], ["2024-01-01", "2024-01-02", "soon"]):
        need("a text among" in said(cells, "a"), str(cells))
        need("a text among" not in said(cells, "b"), str(cells))
        need("a text among" not in said(cells, "a", "-q"), str(cells))
        need("a text among" not in said(cells, "a", "--type", "a=text"),
             str(cells))
    for cells in (["x", "12", "y"], ["1", "", "2"], ["1", "2.5"], ["007", "x"]):
        need("a text among" not in said(cells, "a"), str(cells))
    text = said([str(n) for n in range(70000)] + ["x", "y"], "a")
    need('row 70001 has "x", a text among numbers, and so have others' in text,
         text)


@case("TEXT is the same in both languages, whatever the pattern")
def _():
    rng = random.Random(8)
    parts = ["0", "#", "?", ",", ".", "%", "E+00", "e-0", "/", " ", "-", "$",
             "(", ")", '"a"', "@", "[<5]", "[>=2]", ";", "_)", "*x", "h", "mm",
             "ss", ".0", "d", "yyyy", "AM/PM", "[h]", "General", "\\x", "é"]
    values = [0, 1, -1, "abc", 45000.75, 0.34, 1e-9, 123456789012, 4.34, -0.5]
    rows = []
    for _ in range(3000):
        v = rng.choice(values + [round(rng.uniform(-1e4, 1e4), 3),
                                 rng.uniform(-10, 10), rng.randrange(10 ** 9)])
        rows.append([v, "".join(rng.choices(parts, k=rng.randrange(1, 9)))])
    out = io.StringIO(newline="")
    w = csv.writer(out, lineterminator="\n")
    w.writerow(["v", "f"])
    w.writerows(rows)
    py, js = (column(formula(out.getvalue(), "TEXT(v, f)", "--type", "f=text",
                             "--limit", "wall=60s", lang=lang))
              for lang in LANGS)
    for row, a, b in zip(rows, py, js):
        need(a == b, f"TEXT({row[0]!r}, {row[1]!r}): {a!r} and {b!r}")
    need(len(set(py)) > 1500, "they are much the same")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Hostile formulas in Python: rows that never end, rows that leave something
for the next one, ways to the interpreter's insides.  Beside each stands its
control."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def formula(table, *args, **kw):
    path = table if isinstance(table, pathlib.Path) else write("t.csv", table)
    return command("formula", "--lang", "py", *args, path, **kw)


def column(r):
    return [row["result"] for row in table_rows(r)]


TABLE = "n\n" + "".join("%d\n" % n for n in range(6))
EVER = "[0 for _ in iter(int, 1)]"


@case("one row of a million never ends: it alone is an error")
def _():
    table = write("million.csv", "n\n" + "".join(
        "%d\n" % n for n in range(1000000)))
    r = formula(table, f"{EVER} if n == 654321 else n + 1", timeout=60)
    got = column(r)
    need(len(got) == 1000000 and got[654321] == "#TIME!", r.about()[:300])
    del got[654321]
    want = [str(n + 1) for n in range(1000000) if n != 654321]
    need(got == want, "other rows changed")
    need(b"1 cell is an error: 1 #TIME!" in r.err, str(r.err))


@case("the time of a row is that of --row-time")
def _():
    busy = "len([0 for i in range(1000) for k in range(4000)]) " \
           "if n == 3 else 1"
    got = column(formula(TABLE, busy, "--row-time", "20ms"))
    need(got[3] == "#TIME!" and got[4] == "1", str(got))
    got = column(formula(TABLE, busy, "--row-time", "30s"))
    need(got[3] == "4000000", str(got))


LOOPS = [
    ("a comprehension", EVER),
    ("a function", f"(lambda: {EVER})()"),
    ("a generator that gives nothing", "any(0 for _ in iter(int, 1) if 0)"),
    ("a regular expression", "re.fullmatch('(a+)+', 'a' * 40 + 'b')"),
    ("a number of a hundred million digits", "10 ** 10 ** 8"),
    ("a power", "pow(3, 10 ** 9)"),
    ("a factorial", "math.factorial(10 ** 7)"),
    ("the digits of a number", "str(10 ** 4000000)"),
    ("a key that never comes", f"sorted([1, 2], key=lambda x: {EVER})"),
    ("an iterator that C runs over", "max(iter(int, 1))"),
    ("many of them at once", "all(map(len, zip(*[range(10 ** 6)] * 1000)))"),
    ("each step long", "sum(map(([0] * 10 ** 6).count, range(10 ** 6)))"),
    ("texts from nowhere", "''.join(iter(str, 1))"),
    ("IFERROR around a loop", f"IFERROR({EVER}, 'caught')"),
    ("IFERROR inside a loop", "[IFERROR(1 / 0, 0) for _ in iter(int, 1)]"),
    ("a helper", f"SUM(x for x in {EVER})"),
]
for _name, _text in LOOPS:
    @case(f"ended, and the next row is right: {_name}")
    def _(text=_text):
        r = formula(TABLE, f"{text} if n == 2 else n * 2", timeout=30)
        got = column(r)
        need(got[2] == "#TIME!", r.about())
        need(got[:2] + got[3:] == ["0", "2", "6", "8", "10"], r.about())
        need(r.seconds < 5 * SLOW, r.about())


DEEP = "(lambda f: f(f, [], 40) == f(f, [], 40))(lambda f, x, k: f(f, [x, x]" \
       ", k - 1) if k else x)"
for _name, _text in (("lists in lists are compared", DEEP),
                     ("tuples in tuples are hashed",
                      DEEP.replace("[]", "()").replace("[x, x]", "(x, x)")
                      .replace("f(f, (), 40) == f(f, (), 40)",
                               "hash(f(f, (), 40))"))):
    @case(f"a row that does not let itself be ended is ended alone: {_name}")
    def _(text=_text):
        r = formula("n\n" + "".join("%d\n" % i for i in range(3000)),
                    f"{text} if n in (1234, 2345) else n * 2", timeout=60)
        got = column(r)
        need(len(got) == 3000 and got[1234] == got[2345] == "#TIME!",
             f"{got[1234:1235]}: {r.about()[:300]}")
        want = [str(2 * i) for i in range(3000) if i not in (1234, 2345)]
        need([v for i, v in enumerate(got) if i not in (1234, 2345)] == want,
             "other rows changed")
        need(r.seconds < 15 * SLOW, f"{r.seconds} s")


@case("rows that do not let themselves be ended cost little more than their "
      "time")
def _():
    n = 3000
    r = formula("n\n" + "".join("%d\n" % i for i in range(n)),
                f"{DEEP} if n % 75 == 7 or n > 2990 else n * 2",
                "--row-time", "50ms", timeout=100)
    got = column(r)
    for i in range(n):
        bad = i % 75 == 7 or i > 2990
        need(got[i] == ("#TIME!" if bad else str(2 * i)), f"{i}: {got[i]}")
    # 49 of them: 0.1 s each, and a second more if they were waited for.
    need(r.seconds < 30 * SLOW, f"{r.seconds} s")


@case("a row of a table that is seen as a whole is given time to hear that it is "
      "to end")
def _():
    # No row of this one can be left out of its batch.
    n = 400000
    table = write("long.csv", "n\n" + "".join("%d\n" % (i * 7919 % n)
                                              for i in range(n)))
    got = column(formula(table, "sorted(list(rows.n) * 5)[0] if index == 5 "
                         "else n", timeout=60))
    need(got[5] == "#TIME!" and got[6:9] == ["47514", "55433", "63352"],
         str(got[:9]))


@case("hundreds of rows fail, each alone")
def _():
    n = 300
    r = formula("n\n" + "1\n" * n, "'x' * (1 << 20)", "--limit",
                "output=256KiB", timeout=60)
    got = column(r)
    need(got == ["#VALUE!"] * n, r.about())


@case("every row loops: the wall limit ends the run")
def _():
    r = formula("n\n" + "1\n" * 1000, EVER, "--limit", "wall=1s", timeout=20)
    need(r.code == 3 and b"wall" in r.err, r.about())
    need(r.seconds < 6 * SLOW, r.about())


@case("one row takes all memory, all stack, all room: it alone fails")
def _():
    for text in ("[0] * 10 ** 9", "'x' * 10 ** 12", "sum(range(10 ** 12))",
                 "['x' * 10 ** 6 for _ in iter(int, 1)]",
                 "(lambda f: f(f))(lambda f: f(f))",
                 "'%1000000000d' % 5", "'x' * 10 ** 8",
                 "[[i] for i in range(10 ** 6) for k in range(10 ** 6)]"):
        got = column(formula(TABLE, f"{text} if n == 2 else n * 2",
                             "--row-time", "10s", timeout=60))
        need(got[2] in ("#VALUE!", "#NUM!"), f"{text}: {got}")
        need(got[:2] + got[3:] == ["0", "2", "6", "8", "10"], f"{text}: {got}")


# What a row says of what the one before has done.
PROBE = ("'|'.join(map(str, [SUM(1, 2), ABS(-1), UPPER('a'), len(rows.n), "
         "rows.n[0], list(rows), math.pi > 3, re.sub('a', 'b', 'a'), "
         "max(1, 2), 'seen' in row]))")
WANT = "3|1|A|6|0|['n']|True|b|2|False"
LEAKS = [
    ("a name", "(lambda: (seen := 1))()"),
    ("a helper", "(lambda: (SUM := 666))()"),
    ("a built-in function", "(lambda: (max := 666))()"),
    ("a column", "(lambda: (n := 666))()"),
    ("the row", "row.update(seen=1)"),
    ("the table", "rows.update(n=[666])"),
    ("the table, emptied", "rows.clear()"),
    ("a column of the table", "list(rows.n).append(666)"),
    ("a default of a function", "(lambda d=[]: d.append(1))()"),
    ("a list sorted in place", "SORT([2, 1]).sort()"),
]
for _name, _text in LEAKS:
    @case(f"no row leaves anything for the next: {_name}")
    def _(text=_text):
        got = column(formula(TABLE, f"str({text}) if index == 0 else {PROBE}"))
        need(not got[0].startswith("#"), f"it was not done: {got[0]}")
        need(got[1:] == [WANT] * 5, f"{got[0]}: {got[1]}")


@case("the control: what a row makes is there within the row")
def _():
    got = column(formula(TABLE, "(d := {}).update(x=n) or d['x']"))
    need(got == ["0", "1", "2", "3", "4", "5"], str(got))


@case("no way leads inside of a function, a frame or a module")
def _():
    for text in ("SUM.__globals__", "[].__class__", "(lambda: 0).__code__",
                 "(x for x in []).gi_frame", "(x for x in []).gi_code",
                 "int.mro()", "re._cache", "(1).__add__(2)", "row.__dict__",
                 "''.__class__.__mro__", "__builtins__", "__import__('os')",
                 "(lambda: __import__)()", "f'{SUM.__globals__}'",
                 "[x.__class__ for x in [1]]", "{'a': SUM.__dict__}",
                 "IF(1, SUM.__globals__, 2)", "rows.n.__class__",
                 "(lambda x=SUM.__code__: x)()", "a[SUM.__globals__:]",
                 "SUM(**row.__dict__)", "sorted([1], key=int.__index__)",
                 "x.f_globals", "x.tb_frame", "x.co_consts", "x.cr_frame"):
        r = formula(TABLE, text)
        need(r.code == 5 and b"SyntaxError" in r.err, f"{text}: {r.about()}")


@case("a loop gives names their values, and assigns to nothing else")
def _():
    for target in ("math.sqrt", "SUM.x", "re.x", "datetime.date", "row.n",
                   "row['n']", "rows.n", "rows.n[0]", "col['n']", "SUM.x.y",
                   "a, SUM.x", "[a, SUM.x]", "*SUM.x, a", "(a, (b, SUM[0]))",
                   "(lambda: SUM)().x", "SUM[0:1]", "rows[index]"):
        for text in ("[0 for %s in [1]]", "{0 for %s in [1]}",
                     "{0: 0 for %s in [1]}", "any(0 for %s in [1])",
                     "[0 for a in [1] for %s in [1]]",
                     "IF(1, [0 for %s in [1]], 2)", "(lambda: [0 for %s in "
                     "[1]])()"):
            r = formula(TABLE, text % target)
            need(r.code == 5 and b"SyntaxError" in r.err and
                 not r.out, f"{text % target}: {r.about()}")
    got = column(formula(TABLE, "sum(a * c[0] for (a, *c), [b] in "
                                "[((n, 2), [3])])"))
    need(got == ["0", "2", "4", "6", "8", "10"], str(got))


@case("str.format is refused, which reads attributes by names in a text")
def _():
    for text in ("'{0.__globals__[sys].modules}'.format(SUM)",
                 "'{0.gi_frame.f_builtins}'.format(x for x in [1])",
                 "'{a.__globals__}'.format_map({'a': SUM})",
                 "list(map(str.format, ['{0.__globals__}'], [SUM]))",
                 "str.format_map('{a}', {})", "(lambda f=''.format: f)()",
                 "[f.format for f in ['']]", "'{}'.format(n)"):
        r = formula(TABLE, text)
        need(r.code == 5 and b"f-string" in r.err and b"TEXT" in r.err,
             f"{text}: {r.about()}")
    got = column(formula("format\n7\n", "f'{row.format:>3}'"
                         " + TEXT(col['format'], '0.0')"))
    need(got == ["  77.0"], str(got))


@case("no text becomes code, and nothing of the host has a name")
def _():
    for text in ("eval('1')", "exec('1')", "compile('1', '', 'eval')",
                 "open('/etc/passwd')", "getattr(1, 'real')", "type(1)",
                 "setattr(SUM, 'x', 1)", "globals()", "locals()", "vars()",
                 "object()", "print(1)", "input()", "breakpoint()", "exit()",
                 "super()", "memoryview(b'')", "os.system('id')",
                 "sys.modules", "math.sys", "re.enum", "re.sys",
                 "datetime.sys", "tools.x()", "redoma", "dir(1)"):
        got = column(formula("n\n1\n", text))
        need(got in (["#NAME?"], ["#VALUE!"]), f"{text}: {got}")


@case("formulas that are bombs end in one sentence")
def _():
    for text in ("(" * 5000 + "1" + ")" * 5000, "1+" * 40000 + "1",
                 "IF(" * 3000, "-" * 5000 + "1", "SUM(" + "1," * 40000 + "1)",
                 "[" * 150 + "]" * 150, "lambda: " * 3000 + "1",
                 "f'{" * 100, "1" * 5000, "'" + "x" * 100000 + "'",
                 "x." * 5000 + "y", "(" * 300 + "n" + ",)" * 300,
                 "IFERROR(" * 150 + "1/0" + ",1)" * 150):
        r = command("formula", "--lang", "py", "--formula", "x=" + text,
                    write("t.csv", TABLE), timeout=30)
        need(r.code in (0, 3, 5) and len(r.err) < 1000,
             f"{text[:20]}: {r.about()[-300:]}")


if __name__ == "__main__":
    main()

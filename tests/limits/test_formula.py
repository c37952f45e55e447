#!/usr/bin/env python3
"""Hostile formulas: rows that never end, rows that leave something for the
next one, tables that are bombs.  Beside each stands its control."""
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


csv.field_size_limit(1 << 24)


def formula(table, *args, **kw):
    path = table if isinstance(table, pathlib.Path) else write("t.csv", table)
    return command("formula", "--lang", "js", *args, path, **kw)


def column(r):
    return [row["result"] for row in table_rows(r)]


TABLE = "n\n" + "".join("%d\n" % n for n in range(6))


@case("one row of a million never ends: it alone is an error")
def _():
    table = write("million.csv", "n\n" + "".join(
        "%d\n" % n for n in range(1000000)))
    loop = "n === 654321 ? (() => { for (;;); })() : n + 1"
    r = formula(table, loop, timeout=60)
    got = column(r)
    need(len(got) == 1000000 and got[654321] == "#TIME!", r.about()[:300])
    del got[654321]
    want = [str(n + 1) for n in range(1000000) if n != 654321]
    need(got == want, "other rows changed")
    need(b"1 cell is an error: 1 #TIME!" in r.err, str(r.err))


@case("the time of a row is that of --row-time")
def _():
    busy = "n === 3 ? (() => { const e = Date.now() + 300; " \
           "while (Date.now() < e); return 'done'; })() : 1"
    got = column(formula(TABLE, busy))
    need(got[3] == "#TIME!" and got[4] == "1", str(got))
    got = column(formula(TABLE, busy, "--row-time", "5s"))
    need(got[3] == "done", str(got))


LOOPS = [
    ("a loop inside try", "(() => { for (;;) try { for (;;); } "
     "catch { } finally { continue; } })()"),
    ("a regular expression", "/^(a+)+$/.test('a'.repeat(40) + 'b')"),
    ("an array", "Array.from({ length: 1e9 }, () => 1).length"),
    ("a sort that never agrees", "(() => { for (;;) Array.from({ length: "
     "1000 }, (v, i) => i).sort(() => Math.random() - 0.5); })()"),
    ("a getter of itself", "(() => { const o = { get x() { for (;;); } }; "
     "return o.x; })()"),
    ("a primitive that loops", "({ valueOf() { for (;;); } }) * 2"),
    ("a generator", "[...(function*() { for (;;); })()]"),
    ("IFERROR around a loop", "IFERROR((() => { for (;;); })(), 'caught')"),
]
for _name, _text in LOOPS:
    @case(f"ended, and the next row is right: {_name}")
    def _(text=_text):
        r = formula(TABLE, f"n === 2 ? {text} : n * 2", timeout=30)
        got = column(r)
        need(got[2] in ("#TIME!", "#VALUE!"), r.about())
        need(got[:2] + got[3:] == ["0", "2", "6", "8", "10"], r.about())


@case("rows that fail, far apart: each alone is an error")
def _():
    n, bad = 20000, set(range(777, 20000, 1999))
    need(len(bad) == 10, str(bad))
    table = "n,bad\n" + "".join("%d,%d\n" % (i, i in bad) for i in range(n))
    r = formula(table, "bad ? 'x'.repeat(1 << 28).length + new Array(1e8)"
                ".fill(0).length : n * 2", "--row-time", "20s", timeout=100)
    got = column(r)
    need(len(got) == n, f"{len(got)} rows")
    for i, v in enumerate(got):
        need(v == ("#VALUE!" if i in bad else str(2 * i)), f"{i}: {v}")


@case("memory that is too little without a row is told at once, and of no row")
def _():
    table = write("many.csv", "n\n" + "".join("%d\n" % i
                                               for i in range(20000)))
    for lang in ("js", "py"):
        args = ("formula", "--lang", lang, "n + 1", table, "--limit")
        r = command(*args, "memory=1MiB", timeout=60)
        need(r.code == 3 and r.seconds < 20 * SLOW, r.about())
        need(b"memory_limit: memory limit of 1MiB" in r.err and
             b"raise limits.memory" in r.err and
             b"before it has seen a row" in r.err, r.about())
        need(b"#VALUE!" not in r.out + r.err, r.about())
        # What is enough for the interpreter, and not for one row, is that
        # row's.
        bomb = "n == 7 and [0] * (1 << 28) or n + 1" if lang == "py" else \
            "n === 7 ? new Array(1e8).fill(0).length : n + 1"
        r = command("formula", "--lang", lang, bomb, table, "--limit",
                    "memory=64MiB", "--row-time", "20s", timeout=60)
        got = column(r)
        need(got[7] == "#VALUE!" and got[8] == "9", r.about()[:300])


DEAF = [
    ("a search", "'a'.repeat(5e6).indexOf('a'.repeat(2e6) + 'b')"),
    ("a join of what is not there", "[].join.call({ length: 2 ** 53 - 1 })"),
    ("a number's digits", "(7n ** 300000n).toString().length"),
]
for _name, _text in DEAF:
    @case(f"a row that does not let itself be ended is ended alone: {_name}")
    def _(text=_text):
        r = formula("n\n" + "".join("%d\n" % i for i in range(3000)),
                    f"n === 1234 || n === 2345 ? {text} : n * 2", timeout=60)
        got = column(r)
        # What it makes meanwhile may run out of memory first.
        need(len(got) == 3000 and {got[1234], got[2345]} <=
             {"#TIME!", "#VALUE!"}, f"{got[1234:1235]}: {r.about()[:300]}")
        want = [str(2 * i) for i in range(3000) if i not in (1234, 2345)]
        need([v for i, v in enumerate(got) if i not in (1234, 2345)] == want,
             "other rows changed")
        need(r.seconds < 15 * SLOW, f"{r.seconds} s")


@case("every row loops: the wall limit ends the run")
def _():
    r = formula("n\n" + "1\n" * 1000, "(() => { for (;;); })()",
                "--limit", "wall=1s", timeout=20)
    need(r.code == 3 and b"wall" in r.err, r.about())
    need("in a batch of the rows 1 to " in r.text and
         "; 0 rows before it are written" in r.text and
         "--row-time 1ms" in r.text, r.about())
    r = formula("n\n" + "1\n" * 1000, "(() => { for (;;); })()", "--limit",
                "wall=1s", "--limit", "fuel=100000000000", timeout=20)
    need(r.code == 3 and "; 0 rows before it are written" in r.text and
         "--row-time" not in r.text, r.about())


@case("a table that is ended says how many rows are written, and of which not")
def _():
    table = write("end.csv", "a\n" + "1\n" * 70000 + "2\n" * 60)
    loop = "a == 2 ? (() => { for (;;); })() : a"
    how = ("--lang", "js", loop, table, "--limit", "wall=2s")
    r = command("formula", *how, timeout=60)
    n = r.out.count(b"\n") - 1
    need(r.code == 3 and n >= 65536 and
         f"of the rows {n + 1} to 70060; {n} rows before it are written"
         in r.text, r.about())
    out = scratch() / "end-out.csv"
    r = command("formula", *how, "-o", out, timeout=60)
    need(r.code == 3 and f"; {n} rows before it came to something, and nothing "
         f'is written to "{out}"' in r.text and not out.exists(), r.about())
    need(r.seconds < 6 * SLOW, r.about())


@case("one row takes all memory, all stack, all room: it alone fails")
def _():
    for text in ("'x'.repeat(1 << 28).length + new Array(1e8).fill(0).length",
                 "(function f() { return f() + 1; })()",
                 "(() => { const a = []; for (;;) a.push('x'.repeat(1e6) + "
                 "a.length); })()",
                 "'x'.repeat(1 << 27)"):
        r = formula(TABLE, f"n === 2 ? {text} : n * 2", "--row-time", "5s",
                    timeout=60)
        if r.code == 0:
            got = column(r)
            need(got[2] in ("#VALUE!", "#TIME!", "#NUM!"), r.about())
            need(got[:2] + got[3:] == ["0", "2", "6", "8", "10"], r.about())
        else:
            need(r.code == 3, r.about())


CRAWL = """(() => {
const seen = new Set(), found = [];
// Setters that throw, or set what they are called on, which is frozen.
const kept = ['__proto__', 'caller', 'arguments', 'stack', 'constructor',
  'Symbol(Symbol.toStringTag)'];
const makers = { gf: function*() { },
  match: 'x'.matchAll(/x/g), str: ''[Symbol.iterator](), array: [].values(),
  map: new Map().entries(), set: new Set().values(), helper:
  [].values().map(x => x), from: Iterator.from({ next() { } }),
  regexp: /x/, promise: Promise.resolve(), bound: (() => 1).bind() };
const own = new Set(Object.values(makers));
const todo = [['globalThis', globalThis], ['rows', rows], ['n', rows.n],
  ['tag', (s => s)`x`]];
for (const f of [() => null.x, () => missing, () => SUM(NA())])
  try { f(); } catch (e) { todo.push(['thrown', Object.getPrototypeOf(e)]); }
for (const name of Object.keys(makers))
  todo.push([name, Object.getPrototypeOf(makers[name])]);
for (const name of Object.getOwnPropertyNames(globalThis)) {
  let made;
  try { made = new globalThis[name](); } catch { continue; }
  if (typeof made !== 'object') continue;
  todo.push([name + '()', Object.getPrototypeOf(made)]);
  for (const k of ['entries', 'values', 'keys', Symbol.iterator,
                   Symbol.asyncIterator])
    try { todo.push([name + '().' + String(k),
                     Object.getPrototypeOf(made[k]())]); } catch { }
}
while (todo.length) {
  const [path, o] = todo.pop();
  if (o === null || seen.has(o) ||
      (typeof o !== 'object' && typeof o !== 'function')) continue;
  seen.add(o);
  if (Object.isExtensible(o)) found.push(path + ' is extensible');
  todo.push([path + '.proto', Object.getPrototypeOf(o)]);
  const column = o === rows.n;
  for (const key of Reflect.ownKeys(o)) {
    const d = Object.getOwnPropertyDescriptor(o, key);
    const name = path + '.' + String(key);
    if (d.writable || (d.configurable && !column))
      found.push(name + ' can change');
    if (d.set && !kept.includes(String(key))) found.push(name + ' has a setter');
    todo.push([name, d.value], [name + ' get', d.get], [name + ' set', d.set]);
  }
}
return seen.size > 500 ? found.join() || 'none' : 'only ' + seen.size;
})()"""


@case("nothing that rows share can change: every object is looked at")
def _():
    got = column(formula(TABLE, CRAWL, "--row-time", "5s"))
    need(got == ["none"] * 6, got[0][:2000])


@case("a row leaves nothing on the object that a column is")
def _():
    for text in ("Object.setPrototypeOf(rows.n, { map() { return ['evil']; } "
                 "})", "Object.preventExtensions(rows.n)", "rows.n.x = 1",
                 "rows.n.__proto__ = null", "Error.stackTraceLimit = 3",
                 "Object.getPrototypeOf(Iterator.from({ next() { } })).x = 1",
                 "Error.prepareStackTrace = () => 1"):
        got = column(formula(TABLE, f"index === 0 ? (() => {{ try {{ {text}; "
                             "} catch { } return 0; })() : "
                             "[rows.n.map(x => x + 5)[1], rows.n.x, "
                             "Iterator.from({ next() { } }).x, "
                             "Error.stackTraceLimit === 3, "
                             "typeof Error.prepareStackTrace].join()"))
        need(got == ["0"] + ["6,,,false,undefined"] * 5, f"{text}: {got}")


LEAKS = [
    ("a global", "(globalThis.seen = (globalThis.seen ?? 0) + 1)"),
    ("a built-in function", "(Math.abs = () => 666, ABS(-1))"),
    ("a prototype", "(Array.prototype.leak = index, [].leak)"),
    ("Object.prototype", "(Object.prototype.leak = index, ({}).leak)"),
    ("a helper", "(SUM.cache = (SUM.cache ?? 0) + 1)"),
    ("a helper by name", "(globalThis.SUM = () => 666)"),
    ("Object.defineProperty", "Object.defineProperty(String.prototype, "
     "'trim', { value: () => 'leak' })"),
    ("Reflect.set", "Reflect.set(Number.prototype, 'leak', index)"),
    ("setPrototypeOf", "Object.setPrototypeOf(Math, { leak: 1 })"),
    ("a column", "(rows.n[0] = 666)"),
    ("a column by its methods", "rows.n.push(666)"),
    ("the table", "(rows.n = [1])"),
    ("the prototype of generators", "((function*() {}).constructor.prototype"
     ".leak = 1)"),
    ("the prototype of async functions", "(Object.getPrototypeOf(function*()"
     " {}).leak = 1)"),
    ("an iterator's prototype", "(Object.getPrototypeOf([][Symbol.iterator]"
     "()).next = () => 666)"),
    ("delete", "delete Math.max"),
]
for _name, _text in LEAKS:
    @case(f"no row leaves anything for the next: {_name}")
    def _(text=_text):
        probe = (f"index === 0 ? (() => {{ try {{ return {text}; }} catch (e) "
                 "{ return e.name; } })() : [typeof globalThis.seen, "
                 "ABS(-1), [].leak, ({}).leak, SUM.cache, SUM(1, 2), "
                 "' a '.trim(), (5).leak, Math.leak, rows.n[0], "
                 "rows.n.length, [...[7]][0], typeof Math.max, "
                 "(function*() {}).leak].join()")
        got = column(formula(TABLE, probe))
        want = "undefined,1,,,,3,a,,,0,6,7,function,"
        need(got[1:] == [want] * 5, f"{got[0]}: {got[1]}")
    
@case("the control: what a row makes is there within the row")
def _():
    got = column(formula(TABLE, "(() => { const o = {}; o.x = n; return o.x; "
                         "})()"))
    need(got == ["0", "1", "2", "3", "4", "5"], str(got))


@case("no text becomes code, and no way leads to another realm")
def _():
    for text in ("eval('1')", "(0, eval)('1')", "Function('return 1')()",
                 "(() => {}).constructor('return 1')()",
                 "(function*() {}).constructor('yield 1')()",
                 "SUM.constructor('return 1')()",
                 "new (rows.n.constructor.constructor)('return 1')()",
                 "require('fs')", "process.exit(1)", "console.log(1)",
                 "fetch('http://127.0.0.1')", "std", "os", "tools.x()",
                 "setTimeout(() => 1)", "input"):
        got = column(formula("n\n1\n", text))
        need(got in (["#NAME?"], ["#VALUE!"]), f"{text}: {got}")


@case("bombs of CSV end in one sentence")
def _():
    for name, data in (("quote.csv", b'a,b\n1,"' + b"x" * (40 << 20)),
                       ("commas.csv", b"a\n" + b"," * (1 << 20)),
                       ("line.csv", b"a\n" + b"x" * (40 << 20)),
                       ("zero.csv", b"\0" * 100000),
                       ("header.csv", b"a," * 20000)):
        r = formula(write(name, data), "1", timeout=30)
        need(r.code == 2 and r.err.count(b"\n") == 1, r.about()[:600])
    r = formula(write("wide.csv", b"a,b\n1," + b"x" * (8 << 20) + b"\n2,y\n"),
                "LEN(b)")
    need(column(r) == [str(8 << 20), "1"], r.text[-200:])


@case("formulas that are bombs end in one sentence")
def _():
    for text in ("(" * 5000 + "1" + ")" * 5000, "1+" * 40000 + "1",
                 "IF(" * 3000, "`${" * 3000, "SUM(" + "1," * 40000 + "1)"):
        r = command("formula", "--lang", "js", "--formula", "x=" + text,
                    write("t.csv", TABLE), timeout=30)
        need(r.code in (0, 3, 5), f"{text[:20]}: {r.about()[-300:]}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""test-seconds: 240
Scripts that never end, each with a control: the same shape of code with an
end, under the same limit, gives its value."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

LIMIT = 0.4

# name, what never ends, the control, its value
ENDLESS = [
    ("plain loop", "for (;;);", "for (let i = 0; i < 9; i++);\n9", 9),
    ("loop that catches everything",
     "for (;;) { try { for (;;); } catch (e) {} finally { for (;;); } }",
     "try { throw 1 } catch (e) { 'caught' }", "caught"),
    ("C037 backtracking regular expression",
     "/^([A-Z]+\\.?)*$/.test('A'.repeat(60) + '!')",
     "/^([A-Z]+\\.?)*$/.test('A'.repeat(60))", True),
    ("regular expression with nested stars",
     "/(a*)*b/.test('a'.repeat(5000))", "/(a*)*b/.test('aab')", True),
    ("getter", "({ get x() { for (;;); } }).x",
     "({ get x() { return 5; } }).x", 5),
    ("comparator of sort",
     "[2, 1].sort(() => { for (;;); })", "[2, 1].sort()", [1, 2]),
    ("C047 sort in a comparator, natives all the way",
     "const a = Array.from({ length: 1e5 }, (_, i) => -i);"
     "a.sort((x, y) => { a.slice().sort(); return x - y; })",
     "Array.from({ length: 1e4 }, (_, i) => -i).sort((x, y) => x - y)[0]",
     -9999),
    ("huge JSON.parse",
     "const s = '[' + '1,'.repeat(1e6) + '1]'; for (;;) JSON.parse(s)",
     "JSON.parse('[' + '1,'.repeat(1e3) + '1]').length", 1001),
    ("reviver of JSON.parse",
     "JSON.parse('[1]', () => { for (;;); })",
     "JSON.parse('[1]', (k, v) => v)", [1]),
    ("toJSON of the result", "({ toJSON() { for (;;); } })",
     "({ toJSON() { return 7; } })", 7),
    ("C061 getter of the result", "({ get x() { for (;;); } })",
     "({ get x() { return 1; } })", {"x": 1}),
    ("endless promise chain",
     "const f = () => Promise.resolve().then(f); f()",
     "Promise.resolve(3).then(x => x + 1)", 4),
    ("microtasks that breed",
     "const f = () => queueMicrotask(f); f(); await new Promise(() => {})",
     "await new Promise(r => queueMicrotask(() => r(8)))", 8),
    ("C039 loop in a promise executor",
     "new Promise(() => { (async () => { for (;;); })(); })",
     "new Promise(r => r(6))", 6),
    ("timers that breed",
     "const f = () => setTimeout(f, 0); f(); await new Promise(() => {})",
     "await new Promise(r => setTimeout(() => r('t'), 1))", "t"),
    ("a long wait", "await new Promise(r => setTimeout(r, 3600e3))",
     "await new Promise(r => setTimeout(() => r(1), 5))", 1),
    ("C019 clean-up of an async generator",
     "async function* g() { try { yield 1 } finally { for (;;); } }"
     "for await (const x of g()) break",
     "async function* g() { try { yield 1 } finally { globalThis.z = 2 } }"
     "for await (const x of g()) break; z", 2),
    ("Proxy of the result", "new Proxy({}, { ownKeys() { for (;;); } })",
     "new Proxy({ a: 1 }, {})", {"a": 1}),
    ("iterator protocol",
     "[...{ [Symbol.iterator]() { return { next() { return "
     "{ done: false }; } }; } }].length",
     "[...[1, 2]].length", 2),
    ("Symbol.toPrimitive", "`${{ [Symbol.toPrimitive]() { for (;;); } }}`",
     "`${{ [Symbol.toPrimitive]() { return 'p'; } }}`", "p"),
    ("C025 loop after anything of std or os",
     "typeof std === 'undefined' && typeof os === 'undefined' ? "
     "(() => { for (;;); })() : 0",
     "[typeof std, typeof os]", ["undefined", "undefined"]),
]

# Those that may use up their memory before their time.
ENDS = {"iterator protocol": ("wall_limit", "memory_limit")}

for _name, _bad, _good, _value in ENDLESS:
    @case(f"wall: {_name}")
    def _(name=_name, bad=_bad, good=_good, value=_value):
        r = js(bad, "--limit", f"wall={int(LIMIT * 1000)}ms")
        expect_limit(r, *ENDS.get(name, ("wall_limit",)), limit_s=LIMIT)
        expect(js(good, "--limit", "wall=5s"), "ok", value=value)


# Work in one native call: the engine polls nothing, the outer limit must.
NATIVE = [
    ("C023 sparse array to text",
     "const a = []; a.length = 1e9; String(a)",
     "const a = []; a.length = 3; String(a)", ",,", ("wall_limit",)),
    ("C027 power of a BigInt", "99n ** 700000000n", "2n ** 10n === 1024n",
     True, ("error",)),
    ("C029 BigInt from text", "BigInt('9'.repeat(1e8))", "BigInt('99') === 99n",
     True, ("memory_limit",)),
    ("C029 BigInt literal for eval", "(0, eval)('9'.repeat(2e7) + 'n')",
     "(0, eval)('99n') === 99n", True, ("error",)),
    ("C035 lazy empty group", "/(?:)*?a/.test(',')", "/(?:)*?a/.test('a')",
     True, ("ok",)),
    ("join of a joined array",
     "let a = ['x'.repeat(1e5)]; for (;;) a = [a.join() + a.join()]",
     "['a', 'b'].join()", "a,b", ("memory_limit", "error")),
    ("indexOf in a long text",
     "const s = 'a'.repeat(1e6); for (;;) s.indexOf('a'.repeat(1e5) + 'b')",
     "'abc'.indexOf('c')", 2, ("wall_limit",)),
    ("replace of everything",
     "let s = 'a'.repeat(1e5); for (;;) s = s.replaceAll('a', 'aa')",
     "'aa'.replaceAll('a', 'b')", "bb", ("wall_limit", "memory_limit")),
]
for _name, _bad, _good, _value, _ends in NATIVE:
    @case(f"one native call: {_name}")
    def _(bad=_bad, good=_good, value=_value, ends=_ends):
        r = js(bad, "--limit", f"wall={int(LIMIT * 1000)}ms",
               "--limit", "memory=64MiB")
        expect_limit(r, *ends, limit_s=LIMIT)
        if r.status == "error":
            need("RangeError" in r.text or "SyntaxError" in r.text
                 or "memory" in r.text, f"which error? {r.about()}")
        expect(js(good, "--limit", "wall=5s"), "ok", value=value)


DROP = ("const r = new FinalizationRegistry(%s);"
        "(() => { const a = {}; a.a = a; r.register(a, 1); })();"
        "for (let i = 0; i < 2e5; i++) { const c = {}; c.c = c; }")


@case("C021 a finaliser that never ends, after a collection and a return")
def _():
    # The script itself is at its end in some ten milliseconds.
    expect(js(DROP % "() => {}" + "'returned'"), "ok", value="returned")
    # The collection does happen: the callback runs.
    r = js(DROP % "() => console.log('collected')" + "'returned'")
    expect(r, "ok", value="returned", stdout="collected\n")
    for ending in ("'returned'", "process.stdout.write('returned'); 1",
                   "await 1; 'returned'"):
        for reuse in ("never", "tenant"):
            r = js(DROP % "() => { for (;;); }" + ending, "--limit",
                   f"wall={int(LIMIT * 1000)}ms", "--reuse", reuse)
            expect_limit(r, "wall_limit", limit_s=LIMIT)
            need("value" not in r.json, r.about())


@case("C021 process.exit does not run what is to be finalised")
def _():
    r = js(DROP % "() => { for (;;); }" + "process.exit(0)", "--limit",
           f"wall={int(LIMIT * 1000)}ms")
    expect_limit(r, "ok", "wall_limit", limit_s=LIMIT)


@case("cpu: a busy loop ends at its CPU limit, a wait does not")
def _():
    opts = ("--limit", "cpu=200ms", "--limit", "wall=8s")
    expect_limit(js("for (;;);", *opts), "cpu_limit", limit_s=0.2)
    expect(js("await new Promise(r => setTimeout(() => r(1), 600))", *opts),
           "ok", value=1)


@case("what was printed before the end is kept, with or without a newline")
def _():
    r = js("console.log('before'); for (;;);", "--limit", "wall=300ms")
    expect(r, "wall_limit", stdout="before\n")
    need(r.json["limit"]["name"] == "wall", r.about())
    need(r.json["limit"].get("hint"), "no hint")
    say = "process.stdout.write('before');"
    for code, status in (
            ("for (;;);", "wall_limit"),
            ("const a = []; a.length = 1e9; String(a)", "wall_limit"),
            ("await new Promise(r => setTimeout(r, 9e5))", "wall_limit"),
            ("const a = []; for (;;) a.push([])", "memory_limit"),
            ("const f = () => f(); f()", "stack_limit"),
            ("throw 1", "error"), ("process.exit(2)", "error"),
            ("require('node:fs').readFileSync('/x')", "denied"),
            ("'x'.repeat(100000)", "output_limit")):
        r = js(say + code, "--limit", "wall=600ms", "--limit", "memory=32MiB",
               "--limit", "output=64KiB", "--on-denied", "end")
        expect(r, status, stdout="before")


@case("wall: the deadline cannot be caught by the script")
def _():
    r = js("let n = 0; try { for (;;); } catch (e) { console.log('caught') }"
           "finally { console.log('finally') } console.log('after')",
           "--limit", "wall=300ms")
    expect(r, "wall_limit", stdout="")


@case("C079 CPU is near zero while a script waits")
def _():
    r = js("await new Promise(r => setTimeout(r, 60e3))", "--limit",
           "wall=800ms")
    expect_limit(r, "wall_limit", limit_s=0.8)
    need(r.json["usage"]["cpu_us"] < 300_000, r.about())


@case("fuel: ends a loop, and the same program costs the same each time")
def _():
    expect_limit(js("for (;;);", "--limit", "fuel=50_000_000", "--limit",
                    "wall=10s"), "fuel_limit", limit_s=10)
    code = "let s = 0; for (let i = 0; i < 1e4; i++) s += i % 7; s"
    used = set()
    for _ in range(3):
        r = js(code, "--limit", "fuel=5_000_000_000")
        expect(r, "ok", value=29994)
        used.add(r.json["usage"]["fuel"])
    need(len(used) == 1, f"three different costs: {used}")
    need(used.pop() > 10_000, "nothing was counted")


@case("fuel: C047 native work is counted too")
def _():
    small = js("'a'.repeat(10).split('').sort().length", "--limit",
               "fuel=5_000_000_000")
    large = js("'a'.repeat(1e5).split('').sort().length", "--limit",
               "fuel=5_000_000_000")
    expect(small, "ok", value=10)
    expect(large, "ok", value=100000)
    need(large.json["usage"]["fuel"] > 10 * small.json["usage"]["fuel"],
         f"{small.json['usage']} {large.json['usage']}")


@case("C119 C131 each time limit has an effect of its own")
def _():
    loop = "for (;;);"
    for limit, status in (("wall=100ms", "wall_limit"),
                          ("cpu=100ms", "cpu_limit"),
                          ("fuel=1_000_000", "fuel_limit")):
        expect_limit(js(loop, "--limit", limit), status, limit_s=2)


if __name__ == "__main__":
    main()

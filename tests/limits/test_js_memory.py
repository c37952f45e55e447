#!/usr/bin/env python3
"""test-seconds: 240
Memory bombs in scripts, deep recursion in every parser, floods of output."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

BASE_MIB = 64  # what a worker process may hold besides the guest's memory
CAP = 32

# name, bomb, the same with an end, its value
BOMBS = [
    ("array", "const a = []; for (;;) a.push(new Array(1e5).fill(7))",
     "const a = []; for (let i = 0; i < 3; i++) a.push(new Array(1e4).fill(7));"
     "a.length", 3),
    ("C031 one array of 60 million", "new Array(60e6).fill(1).length",
     "new Array(6e4).fill(1).length", 60000),
    ("text", "let a = [], s = 'x'; for (;;) { s += '!'; a.push(s + a.length);"
     "if (s.length < 1e5) s += s }",
     "let s = 'x'; for (let i = 0; i < 9; i++) s += s; s.length", 512),
    ("flat text", "const a = []; for (;;) a.push('x'.repeat(1e6 + a.length))",
     "'x'.repeat(1e6).length", 1000000),
    ("typed array", "const a = []; for (;;) a.push(new Uint8Array(1 << 20))",
     "new Uint8Array(1 << 20).length", 1 << 20),
    ("many small objects", "let o = null; for (;;) o = { o }",
     "let o = null; for (let i = 0; i < 1e4; i++) o = { i }; o.i", 9999),
    ("closures", "let f = () => 0; for (;;) { const g = f; f = () => g }",
     "let f = () => 0; for (let i = 0; i < 99; i++) { const g = f; f = () => g }"
     "typeof f", "function"),
    ("Map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)",
     "new Map([[1, 2]]).size", 1),
    ("C033 JSON.parse again and again",
     "const s = '[' + '\"abc\",'.repeat(2e5) + '1]'; const k = [];"
     "for (;;) k.push(JSON.parse(s))",
     "JSON.parse('[' + '\"abc\",'.repeat(2e3) + '1]').length", 2001),
    ("regular expression",
     "const a = []; for (let i = 0; ; i++)"
     "a.push(new RegExp('(' + 'a|'.repeat(1e4) + i + ')'))",
     "new RegExp('(' + 'a|'.repeat(1e3) + 'b)').test('b')", True),
    ("promises", "const a = []; for (;;) a.push(new Promise(() => {}))",
     "const a = []; for (let i = 0; i < 99; i++) a.push(new Promise(() => {}));"
     "a.length", 99),
    ("C045 resizable buffers",
     "const a = []; for (;;) { const b = new ArrayBuffer(1,"
     "{ maxByteLength: 1 << 24 }); b.resize(1 << 24); a.push(b) }",
     "const b = new ArrayBuffer(1, { maxByteLength: 99 }); b.resize(50);"
     "b.byteLength", 50),
]
for _name, _bad, _good, _value in BOMBS:
    @case(f"memory: {_name}")
    def _(bad=_bad, good=_good, value=_value):
        r = js(bad, "--limit", f"memory={CAP}MiB", "--limit", "wall=8s")
        expect_limit(r, "memory_limit", limit_s=8)
        need(r.watch.one_peak < (CAP + BASE_MIB) * MIB,
             f"a worker of {r.watch.one_peak >> 20} MiB: {r.about()}")
        expect(js(good, "--limit", f"memory={CAP}MiB"), "ok", value=value)


@case("memory: what one limit ends a larger one lets through")
def _():
    code = "new Uint8Array(40 << 20).fill(1).length"
    r = js(code, "--limit", "memory=16MiB")
    expect(r, "memory_limit", "error")
    need("memory" in r.text or "RangeError" in r.text, r.about())
    expect(js(code, "--limit", "memory=128MiB"), "ok", value=40 << 20)


@case("C045 buffers of 1, 2 and 4 GiB: one ending each, at once")
def _():
    for size in ("2 ** 30", "2 ** 31", "2 ** 32", "2 ** 53 - 1"):
        for make in ("new Uint8Array(%s)", "new ArrayBuffer(%s)",
                     "new Float64Array(%s / 8)", "Buffer.alloc(%s)"):
            r = js(make % size + ".byteLength", "--limit", "wall=5s")
            if size == "2 ** 30":
                expect(r, "memory_limit", within=2)
            else:
                expect(r, "error", says="RangeError", within=2)


@case("C041 caught out of memory, a live global array, then a normal end")
def _():
    r = js("globalThis.keep = []; try { for (;;) keep.push('x'.repeat(1e5) +"
           "keep.length) } catch (e) {} keep = null; 'ended'",
           "--limit", "memory=32MiB")
    expect(r, "ok", "memory_limit")
    expect(js("1 + 1"), "ok", value=2)


@case("C043 200,000 objects in one promise job")
def _():
    r = js("Promise.resolve().then(() => { let n = 0;"
           "for (let i = 0; i < 2e5; i++) n += ({ i }).i >= 0; return n })")
    expect(r, "ok", value=200000)


@case("C033 a graph in which each of 30 levels refers twice to the next")
def _():
    shape = "let o = 1; for (let i = 0; i < %d; i++) o = [o, o]; o"
    # By memory in one run, by output in the other, and not by time.
    r = js(shape % 30, "--limit", "wall=30s", "--limit", "memory=32MiB")
    expect(r, "memory_limit", within=15)
    need(r.watch.tree_peak < 300 * MIB, f"{r.watch.tree_peak >> 20} MiB")
    r = js(shape % 14, "--limit", "wall=30s", "--limit", "output=32KiB")
    expect(r, "output_limit", within=5)
    expect(js(shape % 2), "ok", value=[[1, 1], [1, 1]])


# ---- stack

DEEP = [
    ("recursion", "const f = () => f() + 1; f()",
     "const f = n => n ? f(n - 1) : 'end'; f(100)", "end"),
    ("recursion through natives", "const f = () => [1].map(f); f()",
     "[[1]].map(x => x.map(y => y + 1))", [[2]]),
    ("recursion through a getter", "const o = { get x() { return o.x } }; o.x",
     "({ get x() { return 1 } }).x", 1),
    ("recursion through toString",
     "const o = { toString() { return `${o}` } }; `${o}`",
     "`${{ toString() { return 'o' } }}`", "o"),
    ("recursion through a Proxy",
     "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x",
     "let p = { x: 1 }; for (let i = 0; i < 9; i++) p = new Proxy(p, {}); p.x",
     1),
    ("JSON.parse", "JSON.parse('['.repeat(1e6))",
     "JSON.parse('['.repeat(9) + ']'.repeat(9)).length", 1),
    ("JSON.stringify",
     "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a)",
     "JSON.stringify([[[]]])", "[[[]]]"),
    ("join of nested arrays",
     "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; a.join()",
     "[[[1]]].join()", "1"),
    ("regular expression source", "new RegExp('('.repeat(1e6))",
     "new RegExp('('.repeat(9) + ')'.repeat(9)).test('')", True),
    ("regular expression groups",
     "new RegExp('(?:'.repeat(5e4) + ')'.repeat(5e4)).test('')",
     "new RegExp('(?:'.repeat(20) + ')'.repeat(20)).test('')", True),
    ("eval of parentheses", "(0, eval)('('.repeat(1e6))",
     "(0, eval)('('.repeat(20) + '1' + ')'.repeat(20))", 1),
    ("flat", "let a = []; for (let i = 0; i < 1e6; i++) a = [a];"
     "a.flat(Infinity)", "[[1]].flat()", [1]),
    ("structuredClone", "let a = []; for (let i = 0; i < 1e5; i++) a = [a];"
     "structuredClone(a)", "structuredClone([[1]])", [[1]]),
    ("isDeepStrictEqual",
     "let a = [], b = []; for (let i = 0; i < 1e5; i++) { a = [a]; b = [b] }"
     "require('node:util').isDeepStrictEqual(a, b)",
     "require('node:util').isDeepStrictEqual([[1]], [[1]])", True),
]
# Those that do not end as a stack limit.
DEEP_ENDS = {
    "JSON.stringify": ("wall_limit", "stack_limit"),
    "regular expression source": ("error",),
}
for _name, _bad, _good, _value in DEEP:
    @case(f"stack: {_name}")
    def _(name=_name, bad=_bad, good=_good, value=_value):
        r = js(bad, "--limit", "wall=5s")
        expect(r, *DEEP_ENDS.get(name, ("stack_limit",)), within=6.5)
        expect(js(good), "ok", value=value)


@case("stack: overflow can be caught, and the run goes on")
def _():
    expect(js("let d = 0; const f = () => { d++; f() };"
              "try { f() } catch (e) { e instanceof RangeError ||"
              "e.name === 'InternalError' } d > 100"), "ok", value=True)


@case("stack: a result nested deep is refused or carried, never a crash")
def _():
    shape = "let a = 1; for (let i = 0; i < %d; i++) a = [a]; a"
    for depth in (5000, 200000):
        expect(js(shape % depth), "error", says="deep")
    r = js(shape % 200)
    expect(r, "ok")
    need(r.out.count(b"[" * 200), r.about())
    expect(js("let a = 1; for (let i = 0; i < 1e6; i++) a = [a];"
              "console.log(a); 2"), "ok", value=2,
           stdout="[ [ [ [Array] ] ] ]\n")


# What each ends as, for 10,000 of it and for a million bytes of it.
STACK, SYNTAX = "stack_limit", "invalid"
MARKS = {"(": (STACK, STACK), "{": (STACK, STACK), "[": (STACK, STACK),
         "`${": (STACK, STACK), "-": (SYNTAX, STACK), "- ": (SYNTAX, STACK),
         "!": (SYNTAX, STACK), "a=>": (STACK, STACK), "a?b:": (SYNTAX, STACK),
         "new ": (STACK, STACK), "[...": (STACK, STACK),
         "if(1)": (SYNTAX, STACK), "await ": (SYNTAX, STACK),
         "async()=>": (SYNTAX, SYNTAX), "/*": (SYNTAX, SYNTAX),
         "({a:": (SYNTAX, SYNTAX)}


@case("C049 source of nothing but brackets: a parser that hangs fails this")
def _():
    for mark, ends in MARKS.items():
        for count, end in zip((10_000, 1_000_000 // len(mark)), ends):
            r = js((mark * count)[:1 << 20], "--limit", "wall=10s")
            # Where the stack ends is the engine's affair, but not for both.
            expect(r, *({STACK, end} if end == SYNTAX else {end}), within=5)
            need(("RangeError" if r.status == STACK else "SyntaxError")
                 in r.text, r.about())
    # A template after a template is a call of a text: no syntax error.
    expect(js("`" * 10_000), "error", says="not a function", within=5)
    expect(js("(" * 50 + "1" + ")" * 50), "ok", value=1)


# ---- output

FLOODS = [
    ("console.log", "for (;;) console.log('x'.repeat(1000))"),
    ("process.stdout.write", "for (;;) process.stdout.write('x'.repeat(1000))"),
    ("console.error", "for (;;) console.error('x'.repeat(1000))"),
    ("single bytes", "for (;;) process.stdout.write('x')"),
]
for _name, _bad in FLOODS:
    @case(f"output: {_name}")
    def _(bad=_bad):
        r = js(bad, "--limit", "output=64KiB", "--limit", "wall=8s")
        expect_limit(r, "output_limit", limit_s=8)
        need(r.json.get("truncated") is True, r.about())
        kept = len(r.json.get("stdout", "")) + len(r.json.get("stderr", ""))
        need(32 << 10 <= kept <= 64 << 10, f"kept {kept} bytes")


@case("C159 memory is flat while 200 MB are printed over a cap of 64 KiB")
def _():
    r = js("for (let i = 0; i < 20000; i++) console.log('x'.repeat(10000))",
           "--limit", "output=64KiB")
    expect(r, "output_limit")
    need(r.watch.own_peak < 48 * MIB, f"{r.watch.own_peak >> 20} MiB")


@case("output: the value counts too")
def _():
    r = js("'x'.repeat(100000)", "--limit", "output=64KiB")
    expect(r, "output_limit", "error")
    need("output" in r.text, r.about())
    expect(js("'x'.repeat(100000)", "--limit", "output=1MiB"), "ok",
           value="x" * 100000)


@case("C163 a refusal of output names the cap and the way round")
def _():
    r = js("'A'.repeat(200000)", "--limit", "output=64KiB")
    expect(r, "output_limit", "error", says="output")
    need("64" in r.text and ("write" in r.text or "raise" in r.text
                             or "file" in r.text), r.about())


@case("C163 what output cannot carry, a granted file can")
def _():
    out = scratch() / "image.b64"
    r = js("require('node:fs').writeFileSync('/o/image.b64', 'A'.repeat(2e5));"
           "'written'", "--limit", "output=64KiB", "--write",
           f"{out}=/o/image.b64:1MiB")
    expect(r, "ok", value="written")
    need(out.read_text() == "A" * 200000, "the file is another")
    for code in ("'A'.repeat(200000)", "console.log('A'.repeat(200000))"):
        r = js(code, "--limit", "output=64KiB")
        expect(r, "output_limit", says="write large data to a granted file")
        need(r.json["limit"]["name"] == "output"
             and r.json["limit"]["value"] == "64KiB", r.about())


@case("output: just under the limit all of it arrives")
def _():
    expect(js("process.stdout.write('y'.repeat(60000)); undefined", "--limit",
              "output=64KiB"), "ok", stdout="y" * 60000)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Values and texts on their way out: exact, tagged, valid UTF-8 JSON."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


def tag(kind, **more):
    return {"$redoma": kind, **more}


TAGGED = [
    ("C057 10n", "10n", tag("bigint", value="10")),
    ("C057 in an object", "({ n: 2n ** 70n })",
     {"n": tag("bigint", value="1180591620717411303424")}),
    ("C057 in an array", "[-1n, 0n]",
     [tag("bigint", value="-1"), tag("bigint", value="0")]),
    ("a date", "new Date(0)", tag("date", value="1970-01-01T00:00:00.000Z")),
    ("bytes", "new Uint8Array([0, 255, 16])", tag("bytes", value="AP8Q")),
    ("NaN", "NaN", tag("nan")),
    ("infinity", "[Infinity, -Infinity]", [tag("inf"), tag("-inf")]),
    ("-0", "-0", tag("-0")),
    ("undefined in an object", "({ a: undefined })", {"a": tag("undefined")}),
    ("a Map", "new Map([[1, 'a']])", tag("map", value=[[1, "a"]])),
    ("a Set", "new Set([1, 'a'])", tag("set", value=[1, "a"])),
    ("a date that is none", "new Date(NaN)", tag("date", value="")),
]
for _name, _code, _value in TAGGED:
    @case(f"tagged: {_name}")
    def _(code=_code, value=_value):
        r = js(code)
        expect(r, "ok", value=value)
        need("$redoma" in r.out.decode(), r.about())


PLAIN = [("1.5", 1.5), ("0.1 + 0.2", 0.30000000000000004), ("1e21", 1e21),
         ("2 ** 53", 9007199254740992), ("'é😀\\u0000\\n'", "é😀\0\n"),
         ("[,1]", ...), ("({})", {}), ("[]", []), ("true", True),
         ("({ '': 1, '__proto__x': 2, 'a\\nb': 3 })",
          {"": 1, "__proto__x": 2, "a\nb": 3}),
         ("JSON.parse('{\"__proto__\": 1}')", {"__proto__": 1}),
         ("[1, [2, [3]]]", [1, [2, [3]]]), ("null", ...)]
for _code, _value in PLAIN:
    @case(f"plain: {_code}")
    def _(code=_code, value=_value):
        expect(js(code), "ok", value=value)


CANNOT = [
    ("function", "({ a: { f() {} } })", "a.f"),
    ("symbol", "({ list: [1, Symbol('s')] })", "list"),
    ("cycle", "const o = { a: {} }; o.a.b = o; o", "a.b"),
]
for _name, _code, _path in CANNOT:
    @case(f"cannot be carried: {_name}, with the path to it")
    def _(code=_code, path=_path):
        r = js(code)
        expect(r, "error", says=path)


@case("C061 what a result's own methods do is the guest's doing")
def _():
    expect(js("({ toJSON() { throw new RangeError('mine') } })"), "error",
           says="mine")
    expect(js("({ get a() { throw new RangeError('mine') } })"), "error",
           says="mine")
    expect(js("const o = { toJSON() { return o } }; o", "--limit", "wall=3s"),
           "error", says="toJSON", within=2)
    expect(js("const seen = []; new Proxy({ a: 1 }, { get(t, k) {"
              "seen.push(k); return t[k] } })"), "ok", value={"a": 1})


@case("C065 halves of surrogate pairs are U+FFFD, one each, wherever they are")
def _():
    bad = "\ufffd"
    for code, value in (("'\\ud83d'", bad), ("['a\\udc00b']", [f"a{bad}b"]),
                        ("({ '\\ud800': 1 })", {bad: 1}),
                        ("'\\ude00\\ud83d'", bad * 2),
                        ("'\\ud83d\\ude00'", "\U0001f600"),
                        ("new Map([['\\ud800', 1]])",
                         tag("map", value=[[bad, 1]]))):
        expect(js(code), "ok", value=value)
    expect(js("console.log('\\ud83d'); process.stdout.write('\\udc00x'); 1"),
           "ok", value=1, stdout=f"{bad}\n{bad}x")
    r = js("console.error('a\\udc00'); 1")
    expect(r, "ok", value=1)
    need(r.json["stderr"] == f"a{bad}\n", r.about())
    r = js("throw new Error('\\ud800')")
    expect(r, "error")
    need(r.json["error"]["message"] == bad, r.about())
    r = js("const e = new Error('x'); e.name = '\\udfff'; throw e")
    expect(r, "error")
    need(r.json["error"]["name"] == bad, r.about())
    r = js("require('node:fs').readFileSync('/\\ud800')")
    expect(r, "error", says="EACCES")


@case("C065 emoji cut at an odd cap")
def _():
    r = js("process.stdout.write('😀'.repeat(100000))", "--limit",
           "output=65537")
    if r.status == "refused":
        r = js("process.stdout.write('x' + '😀'.repeat(100000))", "--limit",
               "output=64KiB")
    expect(r, "output_limit")
    need(r.json["truncated"] is True, r.about())


@case("a limit of output is told in one line")
def _():
    r = command("eval", "js", "'x'.repeat(5000)", "--limit", "output=2KiB")
    lines = r.err.decode().splitlines()
    need(r.code == 3 and len(lines) == 1 and "output_limit" in lines[0],
         r.about())


@case("output that is not UTF-8 is still valid JSON")
def _():
    r = js("process.stdout.write(new Uint8Array([0xff, 0x41, 0xc3]));"
           "process.stdout.write('\\u0000\\u001b\\u2028')")
    expect(r, "ok", "error")


@case("tags come back as what they were: every one, there and back")
def _():
    code = """[1n << 80n, new Date(5), new Uint8Array([1, 2]), NaN, Infinity,
        -Infinity, -0, undefined, new Map([[{}, 1n]]), new Set(['a']),
        { $redoma: 'bigint', value: '1' }]"""
    there = js(code).json["value"]
    p = write("back.json", json_module.dumps(there))
    expect(js("input", "--input", f"@{p}"), "ok", value=there)
    kinds = ("input.map(v => typeof v === 'object' ? v.constructor.name :"
             "Object.is(v, -0) ? '-0' : String(v))")
    expect(js(kinds, "--input", f"@{p}"), "ok", value=[
        str(1 << 80), "Date", "Uint8Array", "NaN", "Infinity", "-Infinity",
        "-0", "undefined", "Map", "Set", "Object"])
    for bad, says in (('{"$redoma": "fly"}', "$redoma"),
                      ('{"$redoma": "bigint", "value": "x"}', "'x' is no bigint"),
                      ('{"$redoma": "bytes", "value": 7}', "$redoma"),
                      ('{"$redoma": "map", "value": 1}', "$redoma"),
                      ('{"$redoma": "inf", "value": "-"}', "$redoma")):
        expect(js("input", "--input", bad), "error", says=says)


@case("an exit code of the program's own: process.exitCode, exit, abort")
def _():
    for code, want in (("process.exitCode = 3; 5", 3), ("process.exit(7)", 7),
                       ("process.abort()", 134)):
        r = js("console.log('before');" + code)
        expect(r, "error", stdout="before\n")
        need(r.json["exit_code"] == want, r.about())
    expect(js("process.exitCode = 0; 5"), "ok", value=5)


@case("errors of odd kinds are still errors with a text")
def _():
    for code in ("throw 1", "throw null", "throw undefined", "throw 'text'",
                 "throw { a: 1 }", "throw Symbol('s')", "throw 10n",
                 "throw Object.create(null)", "throw () => 1",
                 "throw { get message() { throw 1 } }",
                 "throw { toString() { throw 2 } }",
                 "const e = new Error('x'); e.stack = 5; throw e",
                 "const e = new Error('x'); e.message = { a: 1 }; throw e",
                 "throw new Proxy(new Error('p'), {})",
                 "Promise.reject(new Error('async'))",
                 "await Promise.reject(null)"):
        r = js(code)
        expect(r, "error")
        need(r.json.get("error", {}).get("message") is not None
             or r.json.get("error", {}).get("name"), r.about())


@case("an error tells line and column of the source as it was given")
def _():
    r = js("\n\n  throw new Error('here')\n")
    expect(r, "error")
    e = r.json["error"]
    need(e["line"] == 3, r.about())
    need(3 <= e["column"] <= 25, r.about())
    r = js("const a = 1;\nconst b = ;\n")
    expect(r, "error", "invalid")
    need(r.json["error"]["line"] == 2, r.about())
    need(r.json["error"]["name"] == "SyntaxError", r.about())


@case("three shapes of source")
def _():
    expect(js("const x = 20; x + 1"), "ok", value=21)
    expect(js("const x = await Promise.resolve(2); x * 2"), "ok", value=4)
    expect(js("if (input > 1) return 'big'; return 'small'", "--input", "2"),
           "ok", value="big")
    expect(js("export default 5"), "ok", value=5)
    expect(js("export default (input) => input.a", "--input", '{"a": 3}'),
           "ok", value=3)
    expect(js("import path from 'node:path';"
              "export default path.join('a', '..', 'b')"), "ok", value="b")


@case("C051 the time zone is UTC unless granted, on every host")
def _():
    code = ("[new Date(2026, 0, 1).getTimezoneOffset(),"
            "new Date(2026, 6, 1).getTimezoneOffset(),"
            "String(new Date(0))]")
    seen = set()
    for zone in ("America/New_York", "Asia/Kathmandu", "UTC"):
        r = js(code, env={"TZ": zone})
        expect(r, "ok")
        need(r.json["value"][:2] == [0, 0], r.about())
        seen.add(r.json["value"][2])
    need(len(seen) == 1, f"{seen}")


@case("the same seed gives the same bytes, another seed others")
def _():
    code = "[Math.random(), Math.random()]"
    a, b, c = (js(code, "--random", s).json["value"]
               for s in ("seed:1", "seed:1", "seed:2"))
    need(a == b and a != c, f"{a} {b} {c}")
    x, y = js(code).json["value"], js(code).json["value"]
    need(x != y, "two runs with the same randomness")


@case("pure is said of a run that touched nothing, and of no other")
def _():
    need(js("1 + 1").json["pure"] is True, "1 + 1")
    for code in ("Date.now()", "Math.random()"):
        need(js(code).json.get("pure") is not True, code)
    need(js("Date.now()", "--clock", "fixed:2026-01-01T00:00:00Z").json
         ["value"] == 1767225600000, "fixed clock")


@case("C053 each run has its own budget: 900 ms of a second, again and again")
def _():
    code = "const t = Date.now(); while (Date.now() - t < 900); 1"
    full = 0
    for _ in range(5):
        r = js(code, "--limit", "cpu=1s", "--limit", "wall=15s")
        expect(r, "ok", value=1)
        # On a busy machine a run gets less than it asks for.
        full += r.json["usage"]["cpu_us"] > 800_000
        if full == 2:
            break
    r = js("for (;;);", "--limit", "cpu=1s", "--limit", "wall=15s")
    expect(r, "cpu_limit")
    need(950_000 < r.json["usage"]["cpu_us"] < 1_300_000, r.about())


@case("a script that ends in an object of the runtime has no value")
def _():
    for code in ("setTimeout(() => {}, 1)", "process.on('exit', () => {})",
                 "await 1; setTimeout(() => {}, 1)", "new EventTarget()",
                 "const { EventEmitter } = require('events');"
                 "new EventEmitter().on('x', () => {})"):
        r = js(code)
        expect(r, "ok")
        need(r.json["value"] == tag("undefined"), r.about())
        need(not command("run", source(code)).out, "something is printed")
    # Any other last value is the value, as in Node's own prompt.
    expect(js("process.stdout.write('x')"), "ok", value=True, stdout="x")
    expect(js("process.stdout.write('x'); void 0"), "ok", stdout="x",
           value=tag("undefined"))


if __name__ == "__main__":
    main()

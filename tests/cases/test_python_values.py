#!/usr/bin/env python3
"""What Python's types travel as, in the image and in the native tier; the data
image's are in tests/data/check.py.

test-seconds: 400
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_native import *
from lib_values import *

spare_group()
TIERS = [("image", python), ("native", py)]

for _tier, _run in TIERS:
    for _row in TRAVELS:
        @case(f"{_tier}: {_row[0]:.60}")
        def _(run=_run, row=_row):
            check_travels(run, *row)

    @case(f"{_tier}: all of them at once, and through a tool")
    def _(run=_run):
        check_all(run)

    @case(f"{_tier}: what comes from elsewhere")
    def _(run=_run):
        check_comes(run)

    @case(f"{_tier}: what cannot be carried or read is told in a sentence")
    def _(run=_run):
        check_refusals(run)


@case("a tool's answer with a tag that cannot be read is its failure")
def _():
    policy = write("bad.yaml", "redoma: 1\ntools: [bad]\n")
    answer = json_module.dumps(tag("decimal", "1,5"))
    for _, run in TIERS:
        expect(run("import redoma\ntry: tools.bad()\n"
                   "except redoma.ToolError as e: x = str(e)\n"
                   "'cannot be read' in x", "--policy", policy, "--tool",
                   f"bad=printf %s '{answer}'"), "ok", value=True)


@case("a tag of an answer may be spelt with escapes")
def _():
    policy = write("spelt.yaml", "redoma: 1\ntools: [spelt]\n")
    write("spelt.json", r'{"\u0024redoma": "decimal", "value": "1.10"}')
    for _, run in TIERS:
        expect(run("repr(tools.spelt())", "--policy", policy, "--tool",
                   f"spelt=cat {scratch() / 'spelt.json'}"), "ok",
               value="Decimal('1.10')")


JS_TIERS = [("JavaScript's image", js), ("native JavaScript", nodejs)]

for _tier, _run in TIERS + JS_TIERS:
    @case(f"{_tier}: a tag is spelt in one way")
    def _(run=_run):
        check_spellings(run, 1 if run in (python, js) else 7)

for _tier, _run in TIERS:
    @case(f"{_tier}: a class of the program's own forges no tag")
    def _(run=_run):
        check_forgeries(run)

    @case(f"{_tier}: two keys that are one in UTF-8 are an error")
    def _(run=_run):
        for other in ("\\udc00", "\ufffd"):
            expect(run(f"{{'a\\ud800': 1, 'b': 2, 'a{other}': 3}}"), "error",
                   says="two keys that are the same in UTF-8")

HELD = """[D('1.10'), d.time(3, 4), d.timedelta(seconds=1.5),
complex(1, math.nan), {D(1): d.time(1)}]"""

for _tier, _run in JS_TIERS:
    @case(f"{_tier}: what it has no value for goes out as it came")
    def _(run=_run):
        there = json_module.dumps(python(SETUP + HELD).json["value"])
        expect(run("input", "--input", there), "ok",
               value=json_module.loads(there))
        kinds = run("input.slice(0, 4).map(v => [typeof v, v.$redoma, "
                    "Object.isFrozen(v), Object.isFrozen(v.value), "
                    "String(v.value)])", "--input", there)
        expect(kinds, "ok", value=[
            ["object", "decimal", True, True, "1.10"],
            ["object", "time", True, True, "03:04:00"],
            ["object", "duration", True, True, "PT1.5S"],
            ["object", "complex", True, True, "1,NaN"]])
        # No other data is taken for a tag: what a program made is its data.
        for code in ("({ ...input[0] })", "structuredClone(input[0])",
                     "JSON.parse(JSON.stringify(input[0]))",
                     "({ $redoma: 'decimal', value: '1.10' })"):
            expect(run(code, "--input", there), "ok",
                   value=tag("object", tag("decimal", "1.10")))
        for code in ("input[0].value = 'x'", "input[0].more = 1",
                     "input[3].value.push(1)"):
            expect(run(f"'use strict'; {code}", "--input", there), "error",
                   says="TypeError")
        expect(run("input", "--input", json_module.dumps(
            tag("tuple", [tag("tuple", [1])]))), "ok", value=[[1]])

    @case(f"{_tier}: no toJSON of a prototype forges a tag")
    def _(run=_run):
        lie = ("for (const c of [Object, Array, Date, Map, Set, BigInt, "
               "Uint8Array, Float64Array, ArrayBuffer, Error]) "
               "c.prototype.toJSON = () => 'a lie'; ")
        for kind, value in (("decimal", "1.10"), ("time", "03:04:05"),
                            ("complex", [1, tag("nan")]), ("bytes", "YQ=="),
                            ("date", "1970-01-01T00:00:00.000Z"),
                            ("map", [[1, "a"]]), ("set", [1]),
                            ("bigint", "10")):
            expect(run(lie + "input", "--input",
                       json_module.dumps(tag(kind, value))), "ok",
                   value=tag(kind, value))
        expect(run(lie + "new Float64Array([1, NaN])"), "ok",
               value=[1, tag("nan")])
        # Of what is no more than an object it is asked, once, and by name.
        expect(run(lie + "[{}]"), "ok", value="a lie")
        expect(run("({ a: { toJSON(k) { return [k, new Date(0)] } } })"), "ok",
               value={"a": ["a", tag("date", "1970-01-01T00:00:00.000Z")]})
        expect(run("const o = { toJSON() { return o } }; o"), "error",
               says="toJSON is a function")

    @case(f"{_tier}: what a class of its own says of its members is not asked")
    def _(run=_run):
        lie = "() { throw 'a lie' }"
        expect(run(f"class M extends Map {{ [Symbol.iterator]{lie} "
                   f"entries{lie} }} class S extends Set {{ values{lie} "
                   f"[Symbol.iterator]{lie} }} class A extends Array {{ "
                   f"map{lie} }} const m = new M(); m.set(1, 2); "
                   "const s = new S(); s.add(3); const a = new A(); a.push(4);"
                   "[m, s, a]"), "ok",
               value=[tag("map", [[1, 2]]), tag("set", [3]), [4]])

    @case(f"{_tier}: each kind of value is the same in either place")
    def _(run=_run):
        expect(run("[[, 1], new Number(1), new String('x'), Object(2n), "
                   "new Int8Array(1), new Uint8ClampedArray(1), "
                   "new SharedArrayBuffer(1)]"), "ok",
               value=[[tag("undefined"), 1], 1, "x", tag("bigint", "2"), [0],
                      tag("bytes", "AA=="), tag("bytes", "AA==")])
        for code in ("[Promise.resolve(1)]", "[new WeakMap()]"):
            expect(run(code), "error", says="cannot be carried")

    @case(f"{_tier}: two keys that are one in UTF-8 are no breach, but an error")
    def _(run=_run):
        for other in ("\\udc00", "\ufffd"):
            expect(run(f"({{ 'a\\ud800': 1, b: 2, 'a{other}': 3 }})"), "error",
                   says="two keys that are the same in UTF-8")
        expect(run("({ 'a\\ud800': 1, 'b\\ud800': '\\ud800' })"), "ok",
               value={"a\ufffd": 1, "b\ufffd": "\ufffd"})

    @case(f"{_tier}: a date's own methods forge no tag")
    def _(run=_run):
        expect(run("class D extends Date { toISOString() { return 'a lie' } "
                   "getTime() { return 7 } }; new D(0)"), "ok",
               value=tag("date", "1970-01-01T00:00:00.000Z"))


@case("a value goes through JavaScript and is Python's again")
def _():
    there = json_module.dumps(python(SETUP + HELD).json["value"])
    for _, run in JS_TIERS:
        back = json_module.dumps(run("input", "--input", there).json["value"])
        expect(python(f"{SETUP}repr(input_data) == repr({HELD})", "--input",
                      back), "ok", value=True)


if __name__ == "__main__":
    main()

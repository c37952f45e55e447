#!/usr/bin/env python3
"""What Python's types travel as, in the image and in the native tier; the data
image's are in tests/data/check.py.

test-seconds: 240
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


@case("a value whose text is none is an error, and not left out")
def _():
    for _, run in TIERS:
        expect(run("import decimal\nclass D(decimal.Decimal):\n"
                   "  def __str__(self): return '\\ud800'\nD(1)"), "error",
               says="surrogates not allowed")


if __name__ == "__main__":
    main()

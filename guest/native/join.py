#!/usr/bin/env python3
"""join.py OUT BOOTSTRAP CARRY - the bootstrap with carry.py in its place: one
file, since it alone is in the jail."""
import sys

MARK = "# ---- values: guest/py/carry.py is put here ----\n"


def main(out, bootstrap, carry):
    text, values = (open(p, encoding="utf-8").read()
                    for p in (bootstrap, carry))
    before, after = text.split(MARK)
    with open(out, "w", encoding="utf-8") as f:
        f.write(before + values + "\n" + after)


main(*sys.argv[1:])

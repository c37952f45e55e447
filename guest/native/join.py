#!/usr/bin/env python3
"""join.py OUT BOOTSTRAP VALUES - the bootstrap with what carries values in its
place: one file, since it alone is in the jail."""
import re
import sys

MARK = r".*---- values: guest/\S+ is put here ----.*\n"


def main(out, bootstrap, values):
    text, part = (open(p, encoding="utf-8").read()
                  for p in (bootstrap, values))
    before, after = re.split(MARK, text)
    with open(out, "w", encoding="utf-8") as f:
        f.write(before + part + "\n" + after)


main(*sys.argv[1:])

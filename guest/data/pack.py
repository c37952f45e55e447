#!/usr/bin/env python3
"""pack.py OUT.py IN.py... - the data image's Python as one program: each part
in the namespace of the module _redoma, under the name that tracebacks leave
out.  MAIL is set by redoma-compile, which puts a line above."""
import sys


def main(out, *parts):
    texts = [open(p).read() for p in parts]
    with open(out, "w") as f:
        f.write("import builtins, sys, types\n"
                "sys.modules['_redoma'] = m = types.ModuleType('_redoma')\n"
                "m.MAIL = MAIL\n"
                # What a program does to builtins is not done to us.
                "m.__builtins__ = dict(vars(builtins))\n")
        for text in texts:
            f.write(f"exec(compile({text!r}, '<redoma>', 'exec'), "
                    "m.__dict__)\n")


main(*sys.argv[1:])

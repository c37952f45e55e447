#!/usr/bin/env python3
"""make_expected.py [NAME...] - runs Node over tests/guests/js and keeps what
it printed: NAME.out, and NAME.err if it wrote to standard error.

Node 20 made the files that are committed.  Node's own warnings are off: they
carry its process id."""
import os
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent / "js"
names = sys.argv[1:] or [p.stem for p in sorted(here.glob("*.js"))]
for name in names:
    with tempfile.TemporaryDirectory() as place:
        p = subprocess.run(["node", "--no-warnings", f"{name}.js", place],
                           cwd=here, capture_output=True, text=True,
                           env=dict(os.environ, TZ="UTC", NO_COLOR="1"))
        if p.returncode:
            sys.exit(f"{name}: exit code {p.returncode}\n{p.stderr}")
        (here / f"{name}.out").write_text(p.stdout.replace(place, "DIR"))
        err = here / f"{name}.err"
        err.unlink(missing_ok=True)
        if p.stderr:
            err.write_text(p.stderr.replace(place, "DIR"))

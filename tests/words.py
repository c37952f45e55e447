#!/usr/bin/env python3
"""Fail on paths of one machine, hosts of package registries, and loose ends in
tracked files."""
import pathlib, re, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
if not (root / ".git").exists():
    print("not a git clone")
    sys.exit(77)
# Written so that this file does not match itself.
rules = [
    ("a path of one machine", r"/wor[k]/|/roo[t]/\.(cargo|cache)|/usr/loca[l]/cargo"),
    ("a registry's host", r"(crate[s]\.io|debia[n]\.org|npmj[s]\.(org|com)"
     r"|pyp[i]\.org|pythonhoste[d]\.org|proxy\.golan[g]\.org|mave[n]\.org)"),
    ("a loose end", r"\b(TOD[O]|FIXM[E]|XX[X])\b"),
]
lock = {"engine-rs/Cargo.lock", "deps/sources/Cargo.lock"} # cargo writes them
files = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True,
                       capture_output=True).stdout.decode().split("\0")
errors = 0
for name in filter(None, files):
    path = root / name
    if name in lock or not path.is_file() or path.is_symlink():
        continue
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        continue
    for n, line in enumerate(text.splitlines(), 1):
        for what, pattern in rules:
            if m := re.search(pattern, line):
                print(f"{name}:{n}: {what}: {m[0]}")
                errors += 1
sys.exit(errors > 0)

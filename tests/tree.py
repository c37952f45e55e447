#!/usr/bin/env python3
"""Fail if building and testing changed the work tree.

Usage: tree.py BUILD
BUILD/.tree holds what `git status --porcelain` said before the build.  Judged
in CI only: elsewhere a person may be editing meanwhile.
"""
import os, pathlib, subprocess, sys

root = pathlib.Path(__file__).resolve().parent.parent
before = pathlib.Path(sys.argv[1]) / ".tree"
if os.environ.get("CI") != "true" or not (root / ".git").exists():
    print("judged in CI, in a git clone")
    sys.exit(77)
if not before.exists():
    sys.exit(f"{before} is missing: run this by make test")
now = subprocess.run(["git", "status", "--porcelain"], cwd=root, check=True,
                     capture_output=True, text=True).stdout
new = sorted(set(now.splitlines()) - set(before.read_text().splitlines()))
print("\n".join(new))
sys.exit(bool(new))

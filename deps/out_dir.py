#!/usr/bin/env python3
"""Print the OUT_DIR of one package from cargo's JSON messages on stdin.

Usage: cargo build --message-format=json | out_dir.py PACKAGE
"""
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m["reason"] == "build-script-executed" and sys.argv[1] in m["package_id"]:
        print(m["out_dir"])
        sys.exit()
sys.exit(f"cargo ran no build script of {sys.argv[1]}")

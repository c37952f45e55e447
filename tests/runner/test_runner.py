#!/usr/bin/env python3
"""The runner notices every way a test can go wrong."""
import os, pathlib, sys

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests"))
sys.dont_write_bytecode = True
import run

ROWS = [ # what the test does, what it must count as
    ("exit 0", ["passed"]),
    ("exit 1", ["failed"]),
    ("echo no such call; exit 77", ["skipped"]),
    ("kill -SEGV $$", ["failed"]),
    ("sleep 30", ["failed"]), # over its time
    ("sleep 30 & exit 0", ["failed"]), # leaves a process behind
    ("echo 1..2; echo ok 1 - a; echo ok 2 - b", ["passed", "passed"]),
    ("echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1",
     ["passed", "failed"]),
    ("echo 1..3; echo ok 1 - a; echo ok 2 - b", # one never ran
     ["passed", "passed", "failed"]),
    ("echo ok 1 - a; exit 3", ["passed", "failed"]),
    ("echo ok 1 - a; kill -ABRT $$", ["passed", "failed"]),
    ("echo ok 1 - a '# SKIP no kernel'; echo 1..1", ["skipped"]),
    ("echo '1..0 # SKIP no kernel'", ["skipped"]),
    ("echo 1..1; echo ok 1; echo 1..1; echo ok 1 b", ["passed", "passed"]),
    ("echo 'Bail out! broken'; exit 1", ["failed"]),
]

failed = 0
print(f"1..{len(ROWS) + 2}")
for n, (script, want) in enumerate(ROWS, 1):
    test = run.Test("row", "check", ["sh", "-c", script])
    test.seconds = 1
    got = [r[1] for r in run.judge(test, root / "build")["results"]]
    failed += got != want
    shown = script.replace('#', '')
    print(f"{'ok' if got == want else 'not ok'} {n} - {shown!r}: {got}")

missing = run.judge(run.Test("x", "check", ["./no-such-program"]), root)
ok = missing["results"][0][1] == "failed"
failed += not ok
print(f"{'ok' if ok else 'not ok'} {len(ROWS) + 1} - a program that was not built")

report = [{"test": "x", "results": [("", "skipped", "why")]}]
run.forbid_skips(report)
ok = report[0]["results"][0][1] == "failed"
failed += not ok
print(f"{'ok' if ok else 'not ok'} {len(ROWS) + 2} - a skip that CI does not list")
sys.exit(failed > 0)

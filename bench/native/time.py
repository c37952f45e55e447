"""Runs a program and prints its microseconds of CPU."""
import sys
import time

with open(sys.argv[1]) as f:
    text = f.read()
began = time.process_time()
exec(compile(text, sys.argv[1], "exec"), {"__name__": "__main__"})
print((time.process_time() - began) * 1e6)

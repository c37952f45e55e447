#!/usr/bin/env python3
"""test-seconds: 240
Python that wants more than it was granted, each with its control."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *


@case("a file that no grant covers is refused, and the refusal is reported")
def _():
    path = canary()
    r = python(f"open({str(path)!r}).read()")
    expect(r, "error", says="PermissionError")
    need([(d["op"], d["path"]) for d in r.json["denials"]]
         == [("open", str(path))], r.about())
    plain = write("plain.txt", "plain text")
    r = python(f"open({str(plain)!r}).read()")
    expect(r, "error")
    policy = write("p.yaml", f"redoma: 1\n{r.json['denials'][0]['allow']}\n")
    expect(python(f"open({str(plain)!r}).read()", "--policy", policy), "ok",
           value="plain text")


@case("C085 no module reaches the machine")
def _():
    for name in ("_ctypes", "mmap", "_posixsubprocess", "fcntl", "resource",
                 "termios", "pwd", "grp", "syslog", "_multiprocessing"):
        expect(python(f"import {name}"), "error", says=name)
    expect(python("import math\nmath.floor(1.5)"), "ok", value=1)


@case("C073 C075 deep nesting ends in an error of Python's")
def _():
    for code in ("import sys\nsys.setrecursionlimit(10 ** 9)\n"
                 "def f(): return f()\nf()",
                 "(" * 5000 + ")" * 5000, "-" * 100000 + "1",
                 "f(" * 5000 + ")" * 5000,
                 "import json\njson.loads('[' * 100000)",
                 "x = []\nfor _ in range(10 ** 5): x = [x]\nrepr(x)",
                 "import re\nre.compile('(' * 50000 + ')' * 50000)",
                 "class A:\n  def __repr__(self): return repr(self)\n"
                 "repr(A())"):
        expect(python(code), "error", "invalid", "stack_limit",
               "memory_limit")
    expect(python("(" * 50 + "1" + ")" * 50), "ok", value=1)


@case("C089 nothing of the host is seen in frames, objects, names")
def _():
    r = python("import sys, os, gc\n"
               "f = sys._getframe()\nseen = []\n"
               "while f: seen.append(f.f_code.co_filename); f = f.f_back\n"
               "[seen, sys.path, sys.executable, os.getcwd(), "
               "[m for m in sys.modules if 'redoma' in m]]")
    expect(r, "ok", value=[["agent.py"], [], "", "/", []])


@case("randomness is fresh for each run, and the same again with a seed")
def _():
    code = ("import random, uuid, os\nfrom random import random as r\n"
            "[r(), random.random(), random.randint(0, 10 ** 9), "
            "str(uuid.uuid4()), os.urandom(4).hex(), random.sample(range(99), 3)]")
    policy = write("free.yaml", "redoma: 1\nrandom: real\n")
    one, two = (python(code, "--policy", policy) for _ in range(2))
    expect(one, "ok")
    expect(two, "ok")
    need(all(a != b for a, b in zip(one.json["value"], two.json["value"])),
         one.about() + two.about())
    seeded = write("seed.yaml", "redoma: 1\nrandom: seed:7\n")
    one, two = (python(code, "--policy", seeded) for _ in range(2))
    expect(one, "ok", value=two.json["value"])
    r = python("1 + 1")
    need(r.json.get("pure") is True, r.about())


if __name__ == "__main__":
    main()

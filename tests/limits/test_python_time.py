#!/usr/bin/env python3
"""test-seconds: 240
Python that never ends, each with a control: the same shape of code with an
end, under the same limit, gives its value."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

LIMIT = 0.4

# name, what never ends, the control, its value
ENDLESS = [
    ("plain loop", "while True: pass", "for i in range(9): pass\ni", 8),
    ("a loop that catches everything",
     "while True:\n  try:\n    while True: pass\n  except: pass\n"
     "  finally: pass",
     "try:\n  1 / 0\nexcept: r = 'caught'\nr", "caught"),
    ("a function that calls itself from its handler",
     "def f():\n  try:\n    while True: pass\n  except BaseException: f()\n"
     "f()", "def f(n):\n  return f(n - 1) if n else 5\nf(9)", 5),
    ("C037 backtracking regular expression",
     "import re\nre.match(r'^([A-Z]+\\.?)*$', 'A' * 60 + '!')",
     "import re\nbool(re.match(r'^([A-Z]+\\.?)*$', 'A' * 60))", True),
    ("a power of a power", "10 ** 10 ** 8", "10 ** 10 ** 1",
     10 ** 10),
    ("a sum in C", "sum(range(10 ** 12))", "sum(range(10))", 45),
    ("a generator that a C function drains",
     "import itertools\nmax(itertools.count())", "max(iter([1, 3, 2]))", 3),
    ("a sort with a key in C",
     "l = [str(i) * 9 for i in range(20000)]\nwhile True: l.sort(key=hash)",
     "sorted(['b', 'a'], key=ord)", ["a", "b"]),
    ("__del__ that never ends",
     "class A:\n  def __del__(self):\n    while True: pass\nA()\n1",
     "class A:\n  def __del__(self): pass\nA()\n1", 1),
    ("__repr__ of the result's error",
     "class E(Exception):\n  def __str__(self):\n    while True: pass\n"
     "raise E", "str(ValueError('x'))", "x"),
    ("C079 a long sleep", "import time\ntime.sleep(3600)",
     "import time\ntime.sleep(0.01)\n1", 1),
]
# Those that may use up their memory before their time.
ENDS = {"a power of a power": ("wall_limit", "memory_limit")}

for _name, _bad, _good, _value in ENDLESS:
    @case(f"wall: {_name}")
    def _(name=_name, bad=_bad, good=_good, value=_value):
        limit = ("--limit", f"wall={int(LIMIT * 1000)}ms")
        expect(python(good, *limit), "ok", value=value)
        expect_limit(python(bad, *limit), *ENDS.get(name, ("wall_limit",)),
                     limit_s=LIMIT)


# Who does not end within 50 ms of its deadline is killed.
for _name in ("plain loop", "a loop that catches everything",
              "C037 backtracking regular expression"):
    @case(f"ended by the interpreter, not by the kill: {_name}")
    def _(bad=next(row[1] for row in ENDLESS if row[0] == _name)):
        used = []
        for _ in range(6):
            r = python(bad, "--limit", "wall=200ms")
            expect(r, "wall_limit")
            used.append(r.json["usage"]["wall_us"])
            if used[-1] < 245000:
                return
        raise Failed(f"used {used} us of 200 ms")


@case("what was printed before a deadline is there")
def _():
    r = python("print('before', end='')\nwhile True: pass", "--limit",
               "wall=300ms")
    expect(r, "wall_limit", stdout="before")
    r = python("print('before', end='')\nsum(range(10 ** 12))", "--limit",
               "wall=300ms")
    expect(r, "wall_limit", stdout="before")


@case("cpu time ends a run that its clock would not")
def _():
    r = python("while True: pass", "--limit", "cpu=200ms", "--limit",
               "wall=10s")
    expect(r, "cpu_limit")
    expect(python("sum(range(1000))", "--limit", "cpu=200ms"), "ok",
           value=499500)


@case("what a run used is told, though it had to be killed")
def _():
    for code, least in (("sum(range(10 ** 12))", 100_000),
                        ("import time\ntime.sleep(0.6)\nsum(range(10 ** 12))",
                         0)):
        r = python(code, "--limit", "wall=700ms")
        expect(r, "wall_limit")
        used = r.json["usage"]
        need(least <= used["cpu_us"] <= used["wall_us"], r.about())
        if not least:
            need(used["cpu_us"] < 400_000, r.about())
        need(1 << 20 < used["memory_bytes"] < 128 << 20
             and 0 < used["page_faults"] < 5000, r.about())
    r = python("x = b'a' * (64 << 20)\nsum(range(10 ** 12))", "--limit",
               "cpu=400ms")
    expect(r, "cpu_limit")
    used = r.json["usage"]
    need(used["memory_bytes"] > 64 << 20, r.about())
    need(400_000 <= used["cpu_us"] < 700_000 and
         r.json["limit"]["used"].startswith(str(used["cpu_us"])[:3]),
         r.about())


@case("C079 a wait for a lock is no work")
def _():
    for wait in ("threading.Event().wait(3600)",
                 "l = threading.Lock()\nl.acquire()\nl.acquire(timeout=3600)",
                 "threading.Condition().__enter__() and 1\n"
                 "threading.Semaphore(0).acquire(timeout=3600)",
                 "queue.Queue().get(timeout=3600)",
                 "queue.SimpleQueue().get(timeout=3600)"):
        r = python("import threading, queue\n" + wait, "--limit", "wall=1s")
        expect_limit(r, "wall_limit", limit_s=1)
        need(r.json["usage"]["cpu_us"] < 100_000, r.about())
    expect(python("import threading, queue, time\nt = time.monotonic()\n"
                  "l = threading.Lock()\nr = [l.acquire(timeout=9), "
                  "l.acquire(timeout=0.1), threading.Event().wait(0.1)]\n"
                  "for q in (queue.Queue(), queue.SimpleQueue()):\n"
                  "  q.put(7)\n  r.append(q.get(timeout=9))\n"
                  "  try: q.get(timeout=0.1)\n"
                  "  except queue.Empty: r.append('empty')\n"
                  "[*r, 0.4 <= time.monotonic() - t < 5]"), "ok",
           value=[True, False, False, 7, "empty", 7, "empty", True])


@case("a lock that nobody can release says so")
def _():
    for wait in ("threading.Event().wait()", "queue.Queue().get()",
                 "queue.SimpleQueue().get()",
                 "l = threading.Lock()\nl.acquire()\nl.acquire()"):
        expect(python("import threading, queue\n" + wait), "error",
               says="no threads", within=3)
    expect(python("import threading\nl = threading.RLock()\nwith l:\n"
                  "  with l: r = 1\nr"), "ok", value=1)


if __name__ == "__main__":
    main()

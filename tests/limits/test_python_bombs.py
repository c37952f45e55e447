#!/usr/bin/env python3
"""test-seconds: 240
Python that wants far too much at once, each with a control: the same with less
gives its value.  Nothing may end as a crash or as a fault of ours."""
import gzip
import pathlib
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *

LIMIT = 4.0

# name, too much, how it may end, the control, its value
BOMBS = [
    ("a power of a power", "10 ** 10 ** 9", ("wall_limit", "memory_limit"),
     "len(str(10 ** 10 ** 3))", 1001),
    ("a shift", "1 << 10 ** 10", ("memory_limit", "error"), "1 << 10", 1024),
    ("a long text", "'a' * 10 ** 12", ("memory_limit", "error"),
     "len('a' * 10 ** 6)", 10 ** 6),
    ("a long list", "[0] * 10 ** 9", ("memory_limit", "error"), "len([0] * 10 ** 6)",
     10 ** 6),
    ("bytes", "bytearray(2 ** 31 - 1)", ("memory_limit", "error"),
     "len(bytearray(10 ** 6))", 10 ** 6),
    ("C077 a text that doubles", "s = 'x'\nwhile True: s += s",
     ("memory_limit", "error"), "s = 'x'\nfor _ in range(9): s += s\nlen(s)",
     512),
    ("C083 a list of what never ends", "import itertools\n"
     "list(itertools.count())", ("memory_limit",),
     "import itertools\nlist(itertools.islice(itertools.count(), 3))",
     [0, 1, 2]),
    ("text of a format", "'%*d' % (2 ** 31 - 1, 1)", ("memory_limit", "error"),
     "'%*d' % (3, 1)", "  1"),
    ("decimal digits", "from decimal import *\nsetcontext(Context("
     "prec=MAX_PREC, Emax=MAX_EMAX))\nDecimal(1) / 3",
     ("memory_limit", "wall_limit"),
     "from decimal import *\nstr(+(Decimal(1) / 3))[:4]", "0.33"),
    ("cycles that are kept", "l = []\nwhile True:\n  x = []\n  x.append(x)\n"
     "  l.append(x)", ("memory_limit", "wall_limit"),
     "l = []\nfor _ in range(9):\n  x = []\n  x.append(x)\n  l.append(x)\n"
     "len(l)", 9),
    ("the collector's own callback", "import gc\nl = []\n"
     "gc.callbacks.append(lambda *a: l.extend([[]] * 9999))\n"
     "while True: gc.collect()", ("memory_limit", "wall_limit"),
     "import gc\nl = []\ngc.callbacks.append(lambda *a: l.append(1))\n"
     "gc.collect()\nlen(l)", 2),
    ("a thousand million frames", "import sys\nsys.setrecursionlimit(10 ** 9)\n"
     "def f(n): return f(n + 1)\nf(0)",
     ("stack_limit",),
     "import sys\nsys.setrecursionlimit(10 ** 9)\n"
     "def f(n): return f(n - 1) if n else 7\nf(900)", 7),
    ("recursion in C", "import sys\nsys.setrecursionlimit(10 ** 9)\n"
     "class A:\n  def __eq__(self, x): return [self] == [x]\nA() == A()",
     ("stack_limit", "error"), "class A:\n  def __eq__(self, x): return True\n"
     "A() == A()", True),
    ("recursion in a key", "import sys\nsys.setrecursionlimit(10 ** 9)\n"
     "def k(x): return sorted([x], key=k)\nk(1)", ("stack_limit",),
     "sorted([2, 1], key=abs)", [1, 2]),
    ("__getattr__ that asks itself", "class A:\n"
     "  def __getattr__(self, n): return getattr(self, n + 'x')\nA().b",
     ("stack_limit", "wall_limit", "memory_limit"),
     "class A:\n  def __getattr__(self, n): return n\nA().b", "b"),
    ("a copy that is deep", "import copy\nx = []\nfor _ in range(10 ** 5): "
     "x = [x]\ncopy.deepcopy(x)\n1",
     ("stack_limit", "memory_limit", "wall_limit"),
     "import copy\ncopy.deepcopy([[1]])", [[1]]),
    ("a pickle that is deep", "import pickle\nx = []\nfor _ in range(10 ** 5): "
     "x = [x]\npickle.dumps(x)\n1", ("stack_limit",),
     "import pickle\npickle.loads(pickle.dumps([[1]]))", [[1]]),
    ("f-strings in f-strings", "eval(\"f'{\" * 9000 + '1' + \"}'\" * 9000)",
     ("error", "memory_limit", "stack_limit"), "eval(\"f'{1}'\")", "1"),
    ("blocks in blocks", "exec('\\n'.join(' ' * i + 'if 1:' for i in "
     "range(500)) + '\\n' + ' ' * 500 + 'x = 1')", ("error",),
     "exec('if 1:\\n if 1:\\n  x = 1')\nx", 1),
    ("a csv field without an end", "import csv, itertools\n"
     "csv.field_size_limit(2 ** 31 - 1)\n"
     "next(csv.reader(itertools.chain('\"', itertools.repeat('a' * 9999))))",
     ("memory_limit",), "import csv\nnext(csv.reader(['a,\"b']))", ["a", "b"]),
    ("a csv field over the module's own limit", "import csv, itertools\n"
     "next(csv.reader(itertools.chain('\"', itertools.repeat('a' * 9999))))",
     ("error",),
     "import csv\nlen(next(csv.reader(['a' * 9999])))", 1),
    ("a regular expression's repeats", "import re\n"
     "re.compile('(?:' * 200 + 'a' + '{9})' * 200).match('a' * 10 ** 5)\n1",
     ("ok", "stack_limit", "wall_limit", "memory_limit", "error"),
     "import re\nbool(re.compile('(?:a{9}){2}').match('a' * 18))", True),
]
for _name, _bad, _how, _good, _value in BOMBS:
    @case(f"bomb: {_name}")
    def _(bad=_bad, how=_how, good=_good, value=_value):
        limit = ("--limit", f"wall={int(LIMIT * 1000)}ms")
        expect(python(good, *limit), "ok", value=value)
        expect(python(bad, *limit), *how, within=LIMIT + GRACE)


@case("__del__ that makes another ends, and the next run is as ever")
def _():
    for code in ("class A:\n  def __del__(self): A()\nA()\n1",
                 "class A:\n  def __del__(self):\n    global x\n    x = A()\n"
                 "x = A()\nx = None\n1"):
        expect(python(code), "ok", "stack_limit", "wall_limit")
    expect(python("class A:\n  def __del__(self): print('gone')\nA()\n1"),
           "ok", value=1, stdout="gone\n")


def bomb(name, size=256 * MIB):
    """Small, and large when unpacked."""
    path = scratch() / name
    if path.exists():
        return path
    zero = bytes(MIB)
    if name.endswith(".gz"):
        with gzip.open(path, "wb", 1) as f:
            for _ in range(size // MIB):
                f.write(zero)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                             compresslevel=1) as z:
            with z.open("a", "w") as f:
                for _ in range(size // MIB):
                    f.write(zero)
    return path


@case("archives that are large inside meet the memory limit, not the host's")
def _():
    gz, z = bomb("bomb.gz"), bomb("bomb.zip")
    grants = ("--read", f"{gz}=/d/b.gz", "--read", f"{z}=/d/b.zip",
              "--limit", "wall=10s")
    for bad, good in (
            ("import gzip\ngzip.open('/d/b.gz').read()\n1",
             "import gzip\nlen(gzip.open('/d/b.gz').read(99))"),
            ("import zipfile\nzipfile.ZipFile('/d/b.zip').read('a')\n1",
             "import zipfile\n"
             "len(zipfile.ZipFile('/d/b.zip').open('a').read(99))"),
            ("import zlib\nzlib.decompress(open('/d/b.gz', 'rb').read(), 31)"
             "\n1", "import zlib\nlen(zlib.decompressobj(31).decompress("
             "open('/d/b.gz', 'rb').read(), 99))")):
        r = expect(python(bad, *grants), "memory_limit")
        need(r.watch.one_peak < 256 * MIB, r.about())
        expect(python(good, *grants), "ok", value=99)


@case("integers of any length are carried, both ways")
def _():
    long = {"$redoma": "bigint", "value": "1" + "0" * 5000}
    expect(python("10 ** 5000"), "ok", value=long)
    expect(python("input_data == 10 ** 5000", "--input",
                  json_module.dumps(long)), "ok", value=True)
    expect(python("str(10 ** 5000)"), "error", says="limit")


if __name__ == "__main__":
    main()

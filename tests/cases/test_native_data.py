#!/usr/bin/env python3
"""test-seconds: 400
Heavy packages: sources run by a Python of the host that has them, under the same
policy and with the same result as those of the image."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_native import *
from lib_data import *
from lib_values import *

spare_group()


def room(memory="512MiB", wall="30s"):
    return ("--limit", f"memory={memory}", "--limit", f"wall={wall}")


def data(code, *options, **limits):
    return py(code, "--jail", f"root=runtime:{data_runtime()}",
              *room(**limits), *options, timeout=60)


@case("numpy, pandas, scikit-learn: a value each")
def _():
    expect(data("import numpy as np\nfloat(np.arange(1000.0).sum())"), "ok",
           value=499500)
    expect(data("import pandas as pd\nd = pd.DataFrame({'k': [i % 3 for i in "
                "range(1000)], 'v': range(1000)})\n"
                "d.groupby('k')['v'].sum().tolist()"), "ok",
           value=[166833, 166167, 166500])
    expect(data("import numpy as np\nfrom sklearn.linear_model import "
                "LinearRegression\nx = np.random.rand(1000, 5)\n"
                "m = LinearRegression().fit(x, x @ [1, 2, 3, 4, 5])\n"
                "m.coef_.round(6).tolist()"), "ok", value=[1, 2, 3, 4, 5])


@case("what needs no package has one result in the image and here")
def _():
    for code in ("input_data['a'] + 1", "result = {'b': 2 ** 60}",
                 "import statistics\nstatistics.mean([1, 2, 4])",
                 "1 / 0", "import sys\nsys.exit(3)", "print('x')"):
        a = python(code, "--input", '{"a": 1}')
        b = data(code, "--input", '{"a": 1}')
        for key in ("status", "exit_code", "value", "stdout"):
            need(a.json.get(key) == b.json.get(key), a.about() + b.about())


@case("the policy's file names it; grants, tools and limits are as ever")
def _():
    sales = write("sales.csv", "k,v\na,1\nb,2\na,3\n")
    sales.chmod(0o644)
    out = fresh("sums.csv")
    p = policy(spared() + "limits: {memory: 512MiB, wall: 30s}\n"
               f"native: {{root: ['runtime:{data_runtime()}']}}\n"
               f"read: [{{host: {sales}, as: /data/sales.csv}}]\n"
               f"write: [{{host: {out}, as: /out/sums.csv, max_bytes: 1MiB}}]\n"
               "tools: [{name: scale, where: {by: {maximum: 10}}}]")
    r = py("import pandas as pd\nd = pd.read_csv('/data/sales.csv')\n"
           "s = d.groupby('k', as_index=False)['v'].sum()\n"
           "s['v'] *= tools.scale(by=10)['by']\n"
           "s.to_csv('/out/sums.csv', index=False)\ns.to_dict('records')",
           "--policy", p, "--tool", "scale=cat", timeout=60)
    expect(r, "ok", value=[{"k": "a", "v": 40}, {"k": "b", "v": 20}])
    need(out.read_text() == "k,v\na,40\nb,20\n", out.read_text())
    r = py("import pandas as pd\npd.read_csv('/etc/shadow')", "--policy", p,
           "--tool", "scale=cat", timeout=60)
    expect(r, "error")
    r = py("import numpy as np\nnp.ones((1 << 27,)).sum()", "--policy", p,
           "--tool", "scale=cat", timeout=60)
    expect(r, "memory_limit", "error")
    expect(data("import numpy as np\nwhile True: np.ones(1000) @ np.ones(1000)",
                wall="1s"), "wall_limit")


@case("scalars are carried; tables are refused with what to take instead")
def _():
    check_packages(data)


@case("the image says what would run it, and that does")
def _():
    code = "import pandas\npandas.Series([1, 2]).sum().item()"
    name = "it's a sum.py"
    path = write(f"asked/{name}", code)
    r = run_json("run", path)
    expect(r, "error", says="redoma run --native")
    told = re.search(r"(redoma run --native .*)$",
                     r.json["error"]["message"])[1]
    p = subprocess.run(["sh", "-c", told.replace(
        "redoma run", f"'{REDOMA}' run --jail root=runtime:{data_runtime()} "
        "--limit memory=512MiB", 1)], cwd=path.parent, capture_output=True,
        timeout=60)
    need(p.returncode == 0 and p.stdout == b"3\n", f"{told}: {p}")
    r = command("eval", "py", code)
    need(b"redoma run --native --lang py -, with" in r.err, r.about())
    p = subprocess.run([REDOMA, "run", "--native", "--lang", "py", "-",
                        "--jail", f"root=runtime:{data_runtime()}", *room()],
                       input=code.encode(), capture_output=True, timeout=60)
    need(p.returncode == 0 and p.stdout == b"3\n", f"{p}")
    for package in ("numpy", "sklearn.linear_model", "scipy", "matplotlib"):
        expect(python(f"1\nimport {package}"), "error",
               says="redoma run --native agent.py")


@case("a Python that lacks it says how to name one that has it")
def _():
    if not py("__import__('importlib.util').util.find_spec('pandas') is None",
              ).json["value"]:
        raise Skipped("this machine's own Python has pandas")
    r = py("import pandas")
    expect(r, "error", says="redoma runtime add NAME --program")
    expect(py("try: import pandas\nexcept ImportError as e: x = e.name\nx"),
           "ok", value="pandas")


@case("as a command, too: it finds its packages by any of its names")
def _():
    for word in ("python3", data_runtime()):
        r = native(word, "-c", "import numpy; print(numpy.arange(3).sum())",
                   options=("--jail", f"root=runtime:{data_runtime()}", *room()),
                   timeout=60)
        expect(r, "ok", stdout="3\n")


@case("imported before the run: at no cost of its limits")
def _():
    r = data("import sys, time\nn = 'pandas' in sys.modules\n"
             "t = time.process_time()\nimport pandas\n"
             "[n, time.process_time() - t < 0.05]")
    expect(r, "ok", value=[True, True])
    need(r.json["usage"]["cpu_us"] < 100000 * SLOW, r.about())
    # Not for a source that names none, nor in less memory than it takes.
    expect(data("import sys\n'pan' + 'das' in sys.modules"), "ok", value=False)
    expect(data("import sys\n'pandas' in sys.modules",
                memory="64MiB"), "ok", value=False)


@case("each run draws its own numbers, and sees nothing of another")
def _():
    code = ("import numpy as np\nold = getattr(np, 'mark', None)\n"
            "np.mark = 1\n[old, np.random.rand(), np.random.default_rng()"
            ".random()]")
    a, b = data(code).json["value"], data(code).json["value"]
    need(a[0] is b[0] is None and not {*a[1:]} & {*b[1:]}, f"{a} {b}")


if __name__ == "__main__":
    main()

"""The measurements.  Each takes a Bench and yields (key, row); a row is a
dictionary with "value" and, of distributions, "p50", "p99", "min", "n"."""
import ctypes
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
JS = "fib float json map regex rows sort string".split()
PY = ("fannkuch floats generators json_texts nbody objects pidigits regex "
      "sorts spectral telco words").split()
C = "matrix sha256 sort scan mandelbrot".split()
PR_SET_CHILD_SUBREAPER = 36
# A module of one empty function, exported as _start.
EMPTY = bytes.fromhex("0061736d01000000" "010401600000" "03020100"
                      "070a01065f73746172740000" "0a040102000b")
CSV_BYTES = 200_000_000


class Unmeasured(Exception):
    pass


class NotInstalled(Exception):
    """What is measured only where it is, and not missed elsewhere."""


def spread(samples, scale=1.0):
    s = sorted(x / scale for x in samples)
    return {"value": s[len(s) // 2], "p50": s[len(s) // 2],
            "p99": s[min(len(s) - 1, len(s) * 99 // 100)], "min": s[0],
            "n": len(s)}


class Bench:
    def __init__(self, build, rounds):
        self.build = pathlib.Path(build).resolve()
        self.made = self.build / "bench/made"
        self.made.mkdir(parents=True, exist_ok=True)
        self.rounds = rounds
        self.redoma = str(self.build / "redoma")
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def out(self, *argv):
        r = subprocess.run([str(a) for a in argv], capture_output=True,
                           text=True, cwd=ROOT)
        if r.returncode:
            raise Unmeasured(f"{pathlib.Path(str(argv[0])).name}: "
                             f"{(r.stderr or r.stdout).strip()[:300]}")
        return r.stdout

    def program(self, name):
        return self.build / "bench" / ("bench_" + name)

    def made_file(self, name, content):
        path = self.made / name
        path.write_bytes(content)
        return path

    def run(self, *argv):
        r = subprocess.run([self.redoma, argv[0], "--json",
                            *map(str, argv[1:])],
                           capture_output=True, text=True, cwd=ROOT)
        try:
            res = json.loads(r.stdout)
        except ValueError:
            raise Unmeasured(r.stderr.strip()[:300]) from None
        if res["status"] != "ok":
            raise Unmeasured(f"{argv}: {res['status']} {res.get('error')}")
        return res


def reset_path(b):
    return b.run("eval", "js", "1+1")["walls"]["reset"]


def calls(b, source, n, gap_us, *options):
    lines = b.out(b.program("call"), b.build, "time", source, n, gap_us,
                  *options).splitlines()
    return ([int(x) / 1e3 for x in lines[0].split()],
            [tuple(map(int, x.split())) for x in lines[1:]])


TEN = b"""import json, re
rows = [{"name": "a%d" % i, "price": i * 1.5} for i in range(20)]
m = re.match(r"(\\w+)-(\\d+)", "order-1234")
total = {}
for r in rows:
    key = r["name"][:2]
    total[key] = total.get(key, 0) + r["price"]
best = sorted(total.items(), key=lambda kv: -kv[1])[:3]
text = f"{m.group(1)} {int(m.group(2)):08d}: {best[0][1]:.2f}"
json.dumps({"best": best, "text": text})
"""


def latency(b):
    one = b.made_file("one.js", b"1+1")
    py = b.made_file("one.py", b"1+1")
    ten = b.made_file("ten.py", TEN)
    empty = b.made_file("empty.wasm", EMPTY)
    plans = {  # key: source, runs of a round, gap, options
        "js_new": (one, 300, 2000, []),
        "js_new_0": (one, 300, 0, []),
        "js_tenant": (one, 1500, 0, ["reuse=tenant"]),
        "js_tenant_1ms": (one, 400, 1000, ["reuse=tenant"]),
        "py_new": (py, 200, 2000, []),
        "py_tenant": (py, 1000, 0, ["reuse=tenant"]),
        "py_ten_lines": (ten, 200, 2000, []),
        "wasm_tenant": (empty, 1500, 0, ["reuse=tenant"]),
    }
    wall = {k: [] for k in plans}
    inside = {k: [] for k in plans}
    for _ in range(b.rounds):
        for key, (source, n, gap, options) in plans.items():
            w, i = calls(b, source, n, gap, *options)
            wall[key] += w
            inside[key] += i
    rows = {k: spread(v) for k, v in wall.items()}
    for k, row in rows.items():
        row["faults"] = statistics.median(f for _, _, f in inside[k])
    for name in ("js", "py"):
        new = rows.pop(f"{name}_new")
        yield f"{name}_new_p50", new
        yield f"{name}_new_p99", {**new, "value": new["p99"]}
    yield "js_new_gap0", rows.pop("js_new_0")
    yield from rows.items()
    yield "js_tenant_inside", {
        **spread([c + r for c, r, _ in inside["js_tenant"]]),
        "faults": rows["js_tenant"]["faults"]}
    yield "js_tenant_faults", spread([f for _, _, f in inside["js_tenant"]])


def rates(b):
    one = b.made_file("one.js", b"1+1")
    got = {1: [], 2: []}
    for _ in range(b.rounds):
        for callers, list_ in got.items():
            list_.append(float(b.out(b.program("call"), b.build,
                                     f"rate:{callers}", one, 1, 0)))
    for callers, list_ in got.items():
        yield f"js_new_rate_{callers}", {
            "value": statistics.median(list_), "max": max(list_),
            "n": len(list_)}


def births_of(b, image):
    got = {}
    for _ in range(b.rounds):
        for line in b.out(b.program("pool_birth"), b.build / "redoma-worker",
                          b.build / "images" / image, 4, 20).splitlines():
            key, value = line.split()
            got.setdefault(key, []).append(int(value))
    return got


def births(b):
    js, py = births_of(b, "js.cwasm"), births_of(b, "py.cwasm")
    yield "zygote_ready", spread(js["ready_ns"], 1e3)
    yield "child_parked", spread(js["parked_us"])
    yield "child_replaced", spread(js["round_ns"], 1e3)
    if "private_kib" not in js:
        raise Unmeasured("/proc/PID/smaps_rollup of a worker: only root reads "
                         "it")
    yield "parked_private", spread(js["private_kib"])
    yield "py_parked_private", spread(py["private_kib"])


def processes(b):
    node = shutil.which("node")
    commands = [[b.redoma, "eval", "js", "1+1"], ["/bin/true"]]
    if node:
        commands.append([node, "-e", "1"])
    argv = []
    for c in commands:
        argv += (["---"] if argv else []) + c
    lines = b.out(b.program("exec"), 10 * b.rounds, *argv).splitlines()
    times = [[int(x) / 1e3 for x in line.split()] for line in lines]
    rows = [spread(t) for t in times]
    yield "eval_process", rows[0]
    yield "true_process", rows[1]
    yield "eval_by_true", {"value": rows[0]["p50"] / rows[1]["p50"]}
    if not node:
        raise Unmeasured("eval_by_node: no node here")
    yield "node_process", rows[2]
    yield "eval_by_node", {"value": rows[0]["p50"] / rows[2]["p50"]}


def native_quick(b):
    quick = ROOT / ".deps/quickjs"
    objects, jobs = [], []
    for name in "quickjs libregexp libunicode dtoa".split():
        o = b.made / f"{name}.o"
        objects.append(o)
        if not o.exists():
            jobs.append(subprocess.Popen(
                ["gcc", "-O2", "-w", "-D_GNU_SOURCE", "-DNDEBUG", "-c",
                 str(quick / f"{name}.c"), "-o", str(o)]))
    if any(j.wait() for j in jobs):
        raise Unmeasured("gcc does not build quickjs-ng")
    b.out("gcc", "-O2", f"-I{quick}", HERE / "native/quick.c", *objects, "-o",
          b.made / "quick", "-lm", "-lpthread")
    return b.made / "quick"


def ratios(b, names, ours, native):
    """Medians of both in turn; the rate against native, program by program."""
    each = {}
    for name in names:
        t = [(ours(name), native(name)) for _ in range(b.rounds)]
        a, n = (statistics.median(x) for x in zip(*t))
        each[name] = {"us": a, "native_us": n, "ratio": n / a}
    return {"value": statistics.geometric_mean(e["ratio"]
                                               for e in each.values()),
            "min": min(e["ratio"] for e in each.values()), "each": each}


def js_compute(b):
    quick = native_quick(b)
    yield "js_compute", ratios(
        b, JS,
        lambda n: b.run("run", HERE / f"js/{n}.js")["usage"]["cpu_us"],
        lambda n: float(b.out(quick, HERE / f"js/{n}.js")))


def host_python():
    """A python3.13 of this machine: the image's own version."""
    places = [shutil.which("python3.13"),
              *pathlib.Path.home().glob(".pyenv/versions/3.13*/bin/python3.13")]
    for place in places:
        try:
            if place and "3.13" in subprocess.run(
                    [place, "--version"], capture_output=True, text=True,
                    timeout=20).stdout:
                return place
        except OSError:
            pass
    raise Unmeasured("there is no python3.13 to compare with")


def py_compute(b):
    python = host_python()
    yield "py_compute", ratios(
        b, PY,
        lambda n: b.run("run", HERE / f"py/{n}.py")["usage"]["cpu_us"],
        lambda n: float(b.out(python, HERE / "native/time.py",
                              HERE / f"py/{n}.py")))


def cpu_of(path):
    pid = os.posix_spawn(path, [str(path)], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    if status:
        raise Unmeasured(f"{path} failed")
    return (used.ru_utime + used.ru_stime) * 1e6


def wasm_compute(b):
    sysroot = ROOT / ".deps/wasi-libc"
    for n in C:
        b.out("gcc", "-O2", HERE / f"c/{n}.c", "-o", b.made / n)
        b.out("clang-19", "--target=wasm32-wasi", f"--sysroot={sysroot}",
              "-O2", "-msimd128", HERE / f"c/{n}.c", "-o",
              b.made / f"{n}.wasm")
        if b.run("run", b.made / f"{n}.wasm")["stdout"] != b.out(b.made / n):
            raise Unmeasured(f"{n}: wasm and native disagree")
    yield "wasm_compute", ratios(
        b, C,
        lambda n: b.run("run", b.made / f"{n}.wasm")["usage"]["cpu_us"],
        lambda n: cpu_of(b.made / n))


def make_csv(path):
    if path.exists() and path.stat().st_size >= CSV_BYTES:
        return
    with open(path, "w", encoding="ascii") as f:
        f.write("id,region,amount,note\n")
        x, i = 1, 0
        while f.tell() < CSV_BYTES:
            rows = []
            for _ in range(10000):
                x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
                i += 1
                rows.append(f"{i},region-{x >> 26},{(x >> 8) % 100000},"
                            f"order of customer {x % 9973}\n")
            f.write("".join(rows))


def worker_peak(ours):
    """The largest resident size (KiB) of a worker of ours, now or before."""
    peak = 0
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            s = dict(line.split(":\t", 1) for line in
                     status.read_text().splitlines() if ":\t" in line)
            if s["Name"] == "redoma-worker" and descends(s["PPid"], ours):
                peak = max(peak, int(s["VmHWM"].split()[0]))
        except (OSError, KeyError, ValueError):
            continue
    return peak


def descends(pid, ancestor):
    pid = int(pid)
    while pid > 1 and pid != ancestor:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
        pid = int(text.rsplit(")", 1)[1].split()[1])
    return pid == ancestor


def watched(b, script, csv):
    peak, done = [0], threading.Event()

    def watch():
        while not done.wait(0.02):
            peak[0] = max(peak[0], worker_peak(os.getpid()))

    t = threading.Thread(target=watch)
    t.start()
    try:
        from_ = time.monotonic()
        res = b.run("run", script, "--read", csv, "--limit", "wall=300s",
                    "--limit", "cpu=300s", "--limit", "memory=256MiB")
        took = time.monotonic() - from_
        if not peak[0]:
            raise Unmeasured("no worker was seen while it ran")
        return took, res, peak[0]
    finally:
        done.set()
        t.join()


def csv(b):
    data = b.made / "large.csv"
    make_csv(data)
    node = shutil.which("node")
    for key, name in (("csv", "csv.js"), ("csv_chunks", "csv_chunks.js")):
        text = (HERE / "js" / name).read_text().replace("CSV", str(data))
        script = b.made_file(name, text.encode())
        ours, native, memory, rss = [], [], [], []
        for _ in range(max(1, b.rounds // 3)):
            took, res, peak = watched(b, script, data)
            ours.append(took)
            memory.append(res["usage"]["memory_bytes"] / (1 << 20))
            rss.append(peak / 1024)
            if not node:
                continue
            from_ = time.monotonic()
            if json.loads(b.out(node, script)) != json.loads(res["stdout"]):
                raise Unmeasured(f"{name}: node comes to another result")
            native.append(time.monotonic() - from_)
        yield f"{key}_seconds", spread(ours)
        yield f"{key}_memory", spread(memory)
        yield f"{key}_rss", spread(rss)
        if node:
            yield f"{key}_node_seconds", spread(native)
            yield f"{key}_by_node", {"value": statistics.median(native) /
                                     statistics.median(ours)}


def tool_calls(b, *options):
    sources = {  # key: calls at once, source
        "js_tool": (1, b"for (let i = 0; i < 256; i++) await tools.t(); 1"),
        "js_tool_32": (32, b"for (let i = 0; i < 16; i++) await Promise.all("
                           b"Array.from({length: 32}, () => tools.t())); 1"),
        "py_tool": (1, b"for i in range(256): tools.t()"),
        "py_tool_32": (32, b"import asyncio\nfor i in range(16): await "
                           b"asyncio.gather(*(tools.t() for _ in range(32)))"),
    }
    got = {k: [] for k in sources}
    for _ in range(b.rounds):
        for key, (batch, text) in sources.items():
            path = b.made_file(f"{key}.{key[:2]}", text)
            got[key] += map(int, b.out(
                b.program("call"), b.build, f"tools:{batch}", path, 20, 0,
                "tool=t", "limit=calls=1000", *options).split())
    for key, ns in got.items():
        yield key, spread(ns, 1e3)


DATA = {
    "data_numpy": b"import numpy as np\nfloat(np.arange(1000.0).sum())",
    "data_pandas": b"import pandas as pd\n"
                   b"df = pd.DataFrame({'k': [i % 7 for i in range(1000)],\n"
                   b"                   'v': [i * 0.5 for i in range(1000)]})\n"
                   b"df.groupby('k')['v'].sum().tolist()",
    "data_sklearn": b"import numpy as np\n"
                    b"from sklearn.linear_model import LinearRegression\n"
                    b"x = (np.arange(5000.0) * 7919 % 1000).reshape(1000, 5)\n"
                    b"y = x @ np.arange(1.0, 6.0) + 3\n"
                    b"LinearRegression().fit(x, y).coef_.tolist()",
}


def data_image(b):
    """The user's, or the one that make test-data made; a new process for each
    run."""
    made = b.build / "data-image"
    image = f"{made}/" if made.exists() else "data"
    if subprocess.run([str(b.redoma), "eval", "py", "--image", image, "1"],
                      capture_output=True).returncode:
        raise NotInstalled("the data image is not installed: redoma image "
                           "add data, or make test-data")
    got = {key: [] for key in DATA}
    faults = {key: [] for key in DATA}
    for _ in range(b.rounds):
        for key, text in DATA.items():
            wall, inside = calls(b, b.made_file(f"{key}.py", text), 40, 5000,
                                 f"image={image}")
            got[key] += wall
            faults[key] += [f for _, _, f in inside]
    for key in DATA:
        yield key, {**spread([t / 1e3 for t in got[key]]),
                    "faults": statistics.median(faults[key])}


FORMULAS = {"js": "qty > 3 ? price * qty : 0", "py": "price*qty if qty>3 else 0"}


def formulas(b):
    program = b.program("formula")
    for lang in FORMULAS:
        for key, mode, n, scale, options in (
                ("new_p50", "one", 400, 1e3, ()),
                ("tenant", "one", 1500, 1e3, ("reuse=tenant",)),
                ("row", "rows", 10, 1e6,
                 ("limit=output=64MiB", "reuse=tenant"))):
            samples = b.out(program, b.build, lang, mode, n, *options).split()
            yield f"{lang}_formula_{key}", spread([int(x) for x in samples],
                                                  scale)
        yield f"{lang}_formula_csv_by_loop", formula_csv(b, lang)


PYTHON_LOOP = """
import csv, sys
with open(sys.argv[1], newline="") as f, open(sys.argv[2], "w") as g:
    r, w = csv.DictReader(f), csv.writer(g)
    w.writerow([*r.fieldnames, "total"])
    for row in r:
        price, qty = float(row["price"]), int(row["qty"])
        w.writerow([*row.values(), price * qty if qty > 3 else 0])
"""


def formula_csv(b, lang):
    """Whole processes over one file of 500,000 rows; over 1: we are faster."""
    table = b.made_file("formula.csv", b"price,qty,id\n" + b"".join(
        b"%d.25,%d,%d\n" % (n % 1000, n % 7, n) for n in range(500000)))
    ratios = []
    for _ in range(b.rounds):
        took = []
        for argv in ((b.redoma, "formula", "--lang", lang, FORMULAS[lang],
                      table),
                     ("python3", "-c", PYTHON_LOOP, table, "/dev/stdout")):
            begin = time.perf_counter()
            subprocess.run([str(a) for a in argv], check=True,
                           stdout=subprocess.DEVNULL)
            took.append(time.perf_counter() - begin)
        ratios.append(took[1] / took[0])
    return spread(ratios)


ALL = [latency, data_image, formulas, tool_calls, rates, births, processes, js_compute,
       py_compute, wasm_compute, csv]

"""The measurements of native programs; as those of measure.py."""
import glob
import os
import pathlib
import pwd
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from measure import HERE, Unmeasured, calls, cpu_of, spread, tool_calls

REST_SECONDS = 5
QUIET_ROUNDS = 10  # of 300 runs: thousands, for a p99
BOMBS = {
    "fork": b"import os\nwhile True:\n    try:\n        os.fork()\n"
            b"    except OSError:\n        pass\n",
    "memory": b"a = []\nwhile True:\n    a.append(bytearray(1 << 20))\n",
    "cpu": b"while True:\n    pass\n",
}
# What our jail does that bwrap can do, too.
BWRAP = ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop",
         "ALL", "--hostname", "redoma", "--clearenv", "--proc", "/proc",
         "--dev", "/dev", "--tmpfs", "/tmp", "--uid", "1000", "--gid", "1000",
         "--chdir", "/", "--remount-ro", "/"]


TRUE = b"""void _start(void) {
\t__asm__("syscall" : : "a"(231), "D"(0));
\t__builtin_unreachable();
}
"""


def static(b, name, source, *options):
    """A program of C that needs nothing of the host."""
    path = b.made / name
    b.out("gcc", "-O2", "-static", *options, source, "-o", path)
    return path


def true_program(b):
    """Without a C library, whose start takes as long as a jail does where
    cpuid is trapped."""
    return static(b, "true", b.made_file("true.c", TRUE), "-nostdlib")


def native_latency(b):
    plans = {  # key: source, runs of a round, gap
        "native_py_new": (b.made_file("one.py", b"1+1"), 20, 150000),
        "native_js_new": (b.made_file("one.js", b"1+1"), 20, 250000),
    }
    wall = {k: [] for k in plans}
    for _ in range(b.rounds):
        for key, (source, n, gap) in plans.items():
            wall[key] += calls(b, source, n, gap, "native")[0]
    for key, w in wall.items():
        yield key, spread(w, 1e3)


def native_tools(b):
    for key, row in tool_calls(b, "native"):
        yield f"native_{key}", row


DATA = {  # key: source, gap in which the pool is full again
    "native_numpy": (b"import numpy as np\nfloat(np.arange(1000.).sum())",
                     600000),
    "native_pandas": (b"import pandas as pd\nd = pd.DataFrame({'k': [i % 7 for "
                      b"i in range(1000)], 'v': range(1000)})\n"
                      b"d.groupby('k')['v'].sum().tolist()", 1200000),
    "native_sklearn": (b"import numpy as np\nfrom sklearn.linear_model import "
                       b"LinearRegression\nx = np.random.rand(1000, 5)\n"
                       b"LinearRegression().fit(x, x @ np.arange(5.))"
                       b".coef_.tolist()", 2500000),
}


def native_data(b):
    python = HERE.parent / ".deps/python-data/bin/python3"
    if not python.exists():
        raise Unmeasured("native_numpy and others: deps/fetch --python-data")
    name = f"redoma-bench-{os.getpid()}"
    b.out(b.redoma, "runtime", "add", name, "--program",
          python.parent.resolve() / "python3")
    try:
        wall = {k: [] for k in DATA}
        for _ in range(b.rounds):
            for key, (text, gap) in DATA.items():
                wall[key] += calls(b, b.made_file(f"{key}.py", text), 10, gap,
                                   "native", f"native=root=runtime:{name}",
                                   "limit=memory=512MiB")[0]
        for key, w in wall.items():
            yield key, spread(w, 1e3)
    finally:
        home = pathlib.Path(pwd.getpwuid(os.geteuid()).pw_dir)
        (home / f".config/redoma/runtimes/{name}.yaml").unlink()


def native_refill(b):
    source = b.made_file("one.js", b"1+1")
    got = [float(b.out(b.program("call"), b.build, "rate:1", source, 3, 0,
                       "native")) for _ in range(b.rounds)]
    yield "native_refill", {"value": statistics.median(got), "min": min(got),
                            "n": len(got)}


def bwrap_command(program):
    bwrap = shutil.which("bwrap")
    return [bwrap, "--ro-bind", program, "/true", *BWRAP, "/true"] \
        if bwrap else []


def columns(text):
    """Of lines of nanoseconds: microseconds."""
    return zip(*([int(x) / 1e3 for x in line.split()]
                 for line in text.splitlines()))


def by(ours, theirs):
    return {"value": statistics.median(ours) / statistics.median(theirs)}


def jail_alone(b):
    """The control group is not in the ratios: a spawner has made it before, and
    bwrap makes none."""
    program = true_program(b)
    command = bwrap_command(program)
    whole, group, bare, other = columns(
        b.out(b.program("jail_alone"), program, 20 * b.rounds, *command))
    jail = [w - g for w, g in zip(whole, group)]
    yield "jail_alone", spread(jail)
    yield "jail_alone_group", spread(group)
    yield "jail_by_bare", by(jail, bare)
    if not command:
        raise Unmeasured("jail_by_bwrap: no bwrap here (package bubblewrap)")
    yield "bwrap_alone", spread(other)
    yield "jail_by_bwrap", by(jail, other)


def jail_cold(b):
    program = true_program(b)
    command = bwrap_command(program)
    jail, parked, _, told, _, other = columns(
        b.out(b.program("pool_jail"), b.build / "redoma-init", program,
              20 * b.rounds, *command))
    yield "jail_cold", spread(jail)
    yield "jail_cold_parked", spread(parked)
    yield "jail_cold_end", spread([g - t for g, t in zip(jail, told)])
    if command:
        yield "jail_cold_by_bwrap", by(jail, other)


def native_process(b):
    program = true_program(b)
    lines = b.out(b.program("exec"), 10 * b.rounds, b.redoma, "run",
                  "--native", "--", program, "---", program).splitlines()
    ours, bare = ([int(x) / 1e3 for x in line.split()] for line in lines)
    yield "native_process", spread(ours)
    yield "native_by_true", {"value": statistics.median(ours) /
                             statistics.median(bare)}


def native_cpu(b):
    """The least disturbed run of each: load only ever adds."""
    inside, outside = {}, {}
    for name in "matrix sha256".split():
        program = static(b, f"{name}_static", HERE / f"c/{name}.c")
        for _ in range(max(5, b.rounds)):
            outside.setdefault(name, []).append(cpu_of(program))
            res = b.run("run", "--native", "--", program)
            inside.setdefault(name, []).append(res["usage"]["cpu_us"])
    yield "native_cpu_overhead", {
        "value": 100 * (statistics.geometric_mean(
            min(inside[n]) / min(outside[n]) for n in inside) - 1)}


def beside(b, source, bomb):
    """The quiet tenant's times while another one's bombs go off."""
    loud = subprocess.Popen(
        [b.program("call"), b.build, "loud", bomb, "600", "0", "native",
         "limit=wall=1s", "limit=memory=64MiB"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(0.5)
        got = calls(b, source, 300, 2000)[0]
        if loud.poll() is not None:
            raise Unmeasured(f"the loud tenant: {loud.stderr.read()[:300]}")
        return got
    finally:
        loud.terminate()
        loud.wait()


def quiet_tenant(b):
    source = b.made_file("one.js", b"1+1")
    alone, others = [], {k: [] for k in BOMBS}
    for _ in range(max(QUIET_ROUNDS, b.rounds)):
        for name, text in BOMBS.items():
            bomb = b.made_file(f"bomb_{name}.py", text)
            alone += calls(b, source, 300, 2000)[0]
            others[name] += beside(b, source, bomb)
    base = spread(alone, 1e3)
    yield "quiet_alone", base
    worst = 0
    for name, times in others.items():
        row = spread(times, 1e3)
        worst = max(worst, row["p99"] / base["p99"])
        yield f"quiet_beside_{name}", row
    yield "quiet_tenant_p99", {"value": worst}


def groups_left():
    """Control groups of makers that are gone."""
    left = 0
    for path in glob.glob("/sys/fs/cgroup/**/redoma-*", recursive=True):
        m = re.match(r"redoma-\d+-(\d+)-\d+-\d+$", os.path.basename(path))
        left += bool(m) and not os.path.exists(f"/proc/{m[1]}")
    return left


def children():
    """Orphans come to us; those that have ended are taken, as init would."""
    ours = os.getpid()
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    found = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            found += int(stat.read_text().rsplit(")", 1)[1].split()[1]) == ours
        except (OSError, ValueError):
            continue
    return found


def mounts():
    return len(pathlib.Path("/proc/self/mountinfo").read_text().splitlines())


def counts(folder):
    return {"processes": children(), "mounts": mounts(),
            "groups": groups_left(), "files": len(os.listdir(folder))}


def left_since(before, folder):
    """What is more than before, once it had its time to go."""
    until = time.monotonic() + REST_SECONDS
    while True:
        more = {k: max(0, v - before[k]) for k, v in counts(folder).items()}
        if not any(more.values()) or time.monotonic() > until:
            return more
        time.sleep(0.1)


def native_1000(b):
    source = b.made_file("one.py", b"1+1")
    with tempfile.TemporaryDirectory() as folder:
        before = counts(folder)
        r = subprocess.run([b.program("call"), b.build, "flat", source, "1000",
                            "0", "native"], capture_output=True, text=True,
                           env={**os.environ, "TMPDIR": folder})
        if r.returncode:
            raise Unmeasured(r.stderr.strip()[:300])
        (rss0, fds0), (rss1, fds1) = (map(int, line.split())
                                      for line in r.stdout.splitlines())
        left = left_since(before, folder)
    left["descriptors"] = max(0, fds1 - fds0)
    yield "native_1000_left", {"value": sum(left.values()), "left": left}
    yield "native_1000_rss", {"value": rss1 - rss0}


ALL = [native_latency, native_tools, native_data, native_refill, jail_alone,
       jail_cold, native_process, native_cpu, quiet_tenant, native_1000]

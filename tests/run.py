#!/usr/bin/env python3
"""Run the tests, each in its own process group and under its own time limit.

Usage: run.py [--build DIR] [--kind KIND]... [--slow] [-j N] [WORD]...

Tests are: the checks below; every tests/KIND/*.c (a program of the build);
every test_*.py and test_*.sh below tests/; the corpus of every fuzz/*.c.  WORD
selects those whose name contains it.  Names that contain "solo" run alone,
those that contain "slow" only with --slow.  If we are root, each
tests/escape/test_*.py runs a second time, as an ordinary user; the programs
tests/escape/*.c do that by themselves.

A test prints TAP, or says all by its exit code: 0 passed, 77 skipped.  A crash,
a time-out, a plan that does not match, or a process left behind is a failure.
A line "test-seconds: N" in the first 30 of its source replaces the limit of
120 s.  It finds REDOMA_ROOT, REDOMA_BUILD and a TMPDIR of its own.

With CI=true a skip counts as a failure unless tests/skips lists it.  The last
line is "N passed, N failed, N skipped"; build/test-report.json says it all.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, signal
import subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = "unit api escape limits fault cases".split()
SECONDS = 120
OUTPUT_MAX = 16 << 20
TAP = re.compile(r"(not )?ok\b\s*(\d*)\s*(?:-\s*)?(.*)$")
PLAN = re.compile(r"1\.\.(\d+)\s*(?:#\s*skip\S*\s*(.*))?$", re.I)
SKIP = re.compile(r"^(.*?)\s*#\s*skip\S*\s*(.*)$", re.I)


ORDINARY_ID = 65534


class Test:
    def __init__(self, name, kind, argv, source=None, user=None):
        self.name, self.kind, self.argv = name, kind, [str(a) for a in argv]
        self.user = user  # whose it is; None: ours
        self.seconds = SECONDS
        if source and source.exists():
            head = source.read_text(errors="replace").splitlines()[:30]
            m = re.search(r"test-seconds:\s*(\d+)", "\n".join(head))
            self.seconds = int(m[1]) if m else SECONDS
        # Under emulation everything takes longer.
        self.seconds *= float(os.environ.get("REDOMA_PATIENCE", 1))


def discover(build):
    py = sys.executable
    for name, argv in (
        ("layers", [py, ROOT / "tests/layers.py", ROOT / "src"]),
        ("size", [py, ROOT / "tests/size.py"]),
        ("headers", [py, ROOT / "tests/headers.py", build]),
        ("symbols", [py, ROOT / "tests/symbols.py", build]),
        ("words", [py, ROOT / "tests/words.py"]),
    ):
        yield Test(name, "check", argv)
    for kind in KINDS:
        for source in sorted((ROOT / "tests" / kind).glob("*.c")):
            name = f"{kind}_{source.stem}"
            yield Test(name, kind, [build / "tests" / name], source)
    for source in sorted((ROOT / "tests").rglob("test_*")):
        kind = source.parent.name
        name = f"{kind}_{source.stem[5:]}"
        if source.suffix == ".py":
            yield Test(name, kind, [py, source], source)
        elif source.suffix == ".sh":
            yield Test(name, kind, ["sh", source], source)
    for source in sorted((ROOT / "fuzz").glob("*.c")):
        if source.stem != "replay":
            yield Test(f"fuzz_{source.stem}", "fuzz",
                       [build / "fuzz" / f"fuzz_{source.stem}",
                        ROOT / "fuzz/corpus" / source.stem], source)
    if os.geteuid() == 0:
        for source in sorted((ROOT / "tests/escape").glob("test_*.py")):
            yield Test(f"escape_{source.stem[5:]}_as_user", "escape",
                       [system_python(), source], source, ORDINARY_ID)
    yield Test("tree", "check", [py, ROOT / "tests/tree.py", build])


def system_python():
    """A python that does not lie in the home of root."""
    return shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") \
        or sys.executable


def who(test):
    """How Popen becomes the user of a test."""
    return {} if test.user is None else {
        "user": test.user, "group": test.user, "extra_groups": []}


def out_of_reach(test, build):
    """What the user of a test cannot get at, or None."""
    needed = [test.argv[0], test.argv[-1], str(build / "redoma")]
    for path in needed if test.user is not None else []:
        if subprocess.run(["test", "-r", path], cwd="/", **who(test),
                          ).returncode:
            return path
    return None


def group_members(pgid):
    """The names of what lives in a process group; zombies do not count: they
    are their new parent's to reap."""
    names = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text(errors="replace")
        except OSError:
            continue
        name = text[text.index("(") + 1:text.rindex(")")]
        state, _, group = text[text.rindex(")") + 2:].split()[:3]
        if group == str(pgid) and state not in "ZX":
            names.append(name)
    return names


def finish_group(pgid, grace):
    """Waits for the group to end; kills what is left and says what it was."""
    end = time.monotonic() + grace
    while left := group_members(pgid):
        if time.monotonic() > end:
            try:
                os.killpg(pgid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            break
        time.sleep(0.02)
    return left


def execute(test, build):
    """(exit code or None, output, seconds, complaint)"""
    tmp = tempfile.mkdtemp(prefix="redoma-test-")
    os.chmod(tmp, 0o755)
    if test.user is not None:
        os.chown(tmp, test.user, test.user)
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", LC_ALL="C.UTF-8",
               TMPDIR=tmp, REDOMA_ROOT=str(ROOT), REDOMA_BUILD=str(build),
               PYTHONDONTWRITEBYTECODE="1")
    if test.user is not None:
        env["HOME"] = tmp
    began = time.monotonic()
    complaint, code = None, None
    with tempfile.TemporaryFile() as out:
        try:
            p = subprocess.Popen(test.argv, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=out, env=env, cwd=ROOT,
                                 start_new_session=True, **who(test))
        except OSError as e:
            shutil.rmtree(tmp, ignore_errors=True)
            return None, "", 0.0, f"did not start, was it built? {e}"
        try:
            code = p.wait(test.seconds)
        except subprocess.TimeoutExpired:
            complaint = f"ran longer than {test.seconds} s"
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        left = finish_group(p.pid, 5)
        if left and not complaint:
            complaint = f"left processes behind: {', '.join(left)}"
        seconds = time.monotonic() - began
        out.seek(0)
        text = out.read(OUTPUT_MAX).decode(errors="replace")
    shutil.rmtree(tmp, ignore_errors=True)
    return code, text, seconds, complaint


def parse_tap(text):
    """[(name, "passed"|"failed"|"skipped", reason)], planned or None"""
    results, planned = [], None
    for line in text.splitlines():
        if m := PLAN.match(line):
            planned = (planned or 0) + int(m[1])
            if m[1] == "0":
                results.append(("", "skipped", m[2] or "no reason given"))
        elif m := TAP.match(line):
            label = m[3]
            if s := SKIP.match(label):
                results.append((s[1] or s[2] or m[2], "skipped", s[2] or s[1]))
            else:
                results.append((label or m[2], "failed" if m[1] else "passed", ""))
        elif line.startswith("Bail out!"):
            results.append(("bail out", "failed", line[9:].strip()))
    return results, planned


def judge(test, build):
    if path := out_of_reach(test, build):
        why = f"user {test.user} cannot reach {path}"
        return {"test": test.name, "kind": test.kind, "seconds": 0,
                "results": [("reach", "skipped", why)], "output": ""}
    code, text, seconds, complaint = execute(test, build)
    results, planned = parse_tap(text)
    if complaint is None and code is not None and code < 0:
        complaint = f"killed by {signal.Signals(-code).name}"
    if complaint is None and results:
        counted = len([r for r in results if r[0] or r[1] != "skipped"])
        if planned is not None and planned != counted:
            complaint = f"planned {planned} tests, saw {counted}"
        elif code and not any(r[1] == "failed" for r in results):
            complaint = f"exit code {code}"
    elif complaint is None:
        if code == 77:
            last = text.strip().splitlines()[-1:] or ["no reason given"]
            results = [("", "skipped", last[0])]
        elif code == 0:
            results = [("", "passed", "")]
        else:
            complaint = f"exit code {code}"
    if complaint:
        results.append(("", "failed", complaint))
    return {"test": test.name, "kind": test.kind, "seconds": round(seconds, 3),
            "results": results, "output": text}


def read_skips():
    f = ROOT / "tests/skips"
    return f.read_text().splitlines() if f.exists() else []


def forbid_skips(report):
    """In CI only what tests/skips names may be skipped."""
    known = read_skips()
    for r in report:
        r["results"] = [
            (n, "failed", f"skipped, and tests/skips does not list it: {why}")
            if s == "skipped" and not any(row.startswith(
                (f"{r['test']}:", f"{r['test']}/{n}:")) for row in known)
            else (n, s, why) for n, s, why in r["results"]]


def show(r):
    bad = [x for x in r["results"] if x[1] == "failed"]
    n = len(r["results"])
    word = "FAIL" if bad else "skip" if all(
        x[1] == "skipped" for x in r["results"]) else "ok"
    print(f"{word:4} {r['test']} ({n}, {r['seconds']:.2f} s)", flush=True)
    for name, status, why in r["results"]:
        if status == "skipped":
            print(f"     skipped {name}: {why}", flush=True)


def show_failures(report):
    for r in report:
        bad = [x for x in r["results"] if x[1] == "failed"]
        if not bad:
            continue
        print(f"\n==== {r['test']}")
        lines = r["output"].splitlines()
        if len(lines) > 200:
            print(f"[{len(lines) - 200} lines left out]")
        print("\n".join(lines[-200:]))
        for name, _, why in bad:
            print(f"---- failed: {name or r['test']} {why}")


def run_all(tests, build, jobs):
    report = []
    def take(t):
        r = judge(t, build)
        show(r)
        return r
    alone = [t for t in tests if "solo" in t.name]
    last = [t for t in tests if t.name == "tree"]
    # These find what root's run of the same test has compiled.
    later = [t for t in tests if t.user is not None]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        report += pool.map(take, [t for t in tests
                                  if t not in alone + last + later])
        report += pool.map(take, later)
    return report + [take(t) for t in alone + last]


def main():
    a = argparse.ArgumentParser(usage=__doc__)
    a.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    a.add_argument("--kind", action="append")
    a.add_argument("--slow", action="store_true")
    a.add_argument("-j", type=int, default=2)
    a.add_argument("words", nargs="*")
    o = a.parse_args()
    build = o.build.resolve()
    tests = [t for t in discover(build)
             if (not o.kind or t.kind in o.kind)
             and (o.slow or "slow" not in t.name)
             and (not o.words or any(w in t.name for w in o.words))]
    report = run_all(tests, build, o.j)
    if os.environ.get("CI") == "true":
        forbid_skips(report)
    show_failures(report)
    slowest = sorted(report, key=lambda r: -r["seconds"])[:5]
    print("\nslowest: " + ", ".join(
        f"{r['test']} {r['seconds']:.1f} s" for r in slowest))
    (build / "test-report.json").write_text(json.dumps(report, indent=1))
    n = {s: sum(x[1] == s for r in report for x in r["results"])
         for s in ("passed", "failed", "skipped")}
    if not n["passed"] + n["failed"]:
        print("no test ran")
    print(f"{n['passed']} passed, {n['failed']} failed, {n['skipped']} skipped",
          flush=True)
    return n["failed"] > 0 or not n["passed"]


if __name__ == "__main__":
    sys.exit(main())

"""What the tests that run build/redoma share.

Every run is watched: its time, the memory of its processes, what it leaves
behind, a canary file that no grant covers, and that --json is one strict JSON
object.  A failing check raises Failed; the cases of a program print TAP.
"""
import csv
import ctypes
import hashlib
import io
import json as json_module
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(os.environ.get("REDOMA_ROOT")
                    or pathlib.Path(__file__).resolve().parent.parent)
BUILD = pathlib.Path(os.environ.get("REDOMA_BUILD") or ROOT / "build")
REDOMA = str(BUILD / "redoma")

STATUSES = {  # status: exit code
    "ok": 0, "error": 1, "wall_limit": 3, "cpu_limit": 3, "fuel_limit": 3,
    "memory_limit": 3, "stack_limit": 3, "output_limit": 3, "call_limit": 3,
    "denied": 4, "invalid": 5, "trap": 7, "crashed": 7, "breach": 9,
    "cancelled": 130,
}
GRACE = 1.0        # seconds a run may take over its limit
STILL = 1.0        # seconds between two looks of a Watch: it could not run
MIB = 1 << 20
SLOW = 1.0 if not os.environ.get("REDOMA_SLOW") else float(
    os.environ["REDOMA_SLOW"])  # >1 under sanitizers and on busy machines

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


class Failed(Exception):
    pass


class Skipped(Exception):
    """What this machine lacks for a case."""


def need(condition, text):
    if not condition:
        raise Failed(text)


def scratch():
    """The folder of this program's files; gone at the end."""
    if not scratch.path:
        scratch.path = pathlib.Path(tempfile.mkdtemp(prefix="redoma-test-"))
        scratch.path.chmod(0o755)
    return scratch.path


scratch.path = None

SECRET = "canary-" + hashlib.sha256(os.urandom(16)).hexdigest()


def canary():
    path = scratch() / "canary.txt"
    if not path.exists():
        path.write_text(SECRET)
    return path


def write(name, data):
    path = scratch() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


# ---- processes

def children_of():
    """{pid: (ppid, rss bytes, state)} of every process there is."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            text = pathlib.Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        fields = text.rpartition(")")[2].split()
        found[int(entry)] = (int(fields[1]), int(fields[21]) * 4096, fields[0])
    return found


def tree_below(root, found=None):
    found = found if found is not None else children_of()
    below, todo = [], [root]
    while todo:
        parent = todo.pop()
        for pid, (ppid, _, _) in found.items():
            if ppid == parent:
                below.append(pid)
                todo.append(pid)
    return below


class Watch(threading.Thread):
    """Samples resident memory: of the command, and of everything below us."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.stop = pid, threading.Event()
        self.own_peak = self.tree_peak = 0
        self.one_peak = 0  # the largest single process that is not the command
        self.looked = time.monotonic(), 0.0  # when, and how long it stood still

    def stood_still(self):
        """Seconds in which this program could not run: somebody stopped it, or
        the machine gave it no CPU; its run then could not either."""
        last, still = self.looked
        gap = time.monotonic() - last
        return still + gap if self.is_alive() and gap > STILL else still

    def run(self):
        while not self.stop.wait(0.02):
            self.looked = time.monotonic(), self.stood_still()
            found = children_of()
            others = [found[p][1] for p in tree_below(os.getpid(), found)
                      if p != self.pid]
            own = found.get(self.pid, (0, 0, ""))[1]
            self.own_peak = max(self.own_peak, own)
            self.one_peak = max([self.one_peak] + others)
            self.tree_peak = max(self.tree_peak, own + sum(others))


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def survivors(seconds=2.0):
    """Processes below us that are still alive after a moment."""
    end = time.monotonic() + seconds
    while True:
        reap()
        found = children_of()
        left = [p for p in tree_below(os.getpid(), found)
                if found[p][2] not in "ZX"]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)


def kill_survivors():
    for pid in survivors(0):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    reap()


def doings(pid):
    """A line for it and for each process below it: what it waits for, and
    whether it was given a CPU (schedstat: nanoseconds on one, and in line)."""
    lines = []
    for p in [pid, *tree_below(pid)]:
        try:
            name, state, wchan, sched = (
                pathlib.Path(f"/proc/{p}/{f}").read_text().strip()
                for f in ("comm", "stat", "wchan", "schedstat"))
        except OSError:
            continue
        ran, waited = (int(n) // 1000000 for n in sched.split()[:2])
        lines.append(f"{p} {name} {state.rpartition(')')[2].split()[0]} "
                     f"{wchan}, {ran} ms on a CPU, {waited} ms in line for one")
    return "\n  ".join(lines)


# ---- traces on the machine

def left_group(name):
    """A control group of ours whose maker is gone: redoma-NS-PID-START-N."""
    if "redoma" not in name:
        return False
    try:
        pid, start = name.split("-")[2:4]
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (ValueError, OSError):
        return True
    return stat.rpartition(")")[2].split()[19] != start


def traces():
    """Names of ours in places where a run could leave something."""
    names = set()
    for place in ("/tmp", "/dev/shm", "/run", os.environ.get("TMPDIR", "/tmp")):
        try:
            names |= {f"{place}/{n}" for n in os.listdir(place)
                      if "redoma" in n and not n.startswith("redoma-test-")}
        except OSError:
            pass
    for base, dirs, _ in os.walk("/sys/fs/cgroup"):
        names |= {f"{base}/{d}" for d in dirs if left_group(d)}
        if base.count("/") > 6:
            dirs.clear()
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return names | {m for m in mounts if "redoma" in m}


# ---- one run

def strict_json(data):
    def unique(pairs):
        keys = [k for k, _ in pairs]
        need(len(keys) == len(set(keys)), f"duplicate keys in JSON: {keys}")
        return dict(pairs)

    def constant(name):
        raise Failed(f"{name} is not JSON")

    text = data.decode("utf-8")  # strict
    value = json_module.loads(text, object_pairs_hook=unique,
                              parse_constant=constant)
    # A lone surrogate cannot be encoded: strict readers refuse it.
    json_module.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


class Run:
    """What one command came to."""

    def __init__(self, argv, code, out, err, seconds, watch):
        self.argv, self.code, self.out, self.err = argv, code, out, err
        self.seconds, self.watch = seconds, watch
        self.json = None

    @property
    def text(self):
        return (self.out + self.err).decode(errors="replace")

    @property
    def status(self):
        return self.json and self.json.get("status")

    @property
    def message(self):
        j = self.json or {}
        parts = [j.get("error", {}).get(k, "") for k in ("name", "message")]
        parts += [str(j.get("limit", {}).get(k, "")) for k in ("name", "hint")]
        return " ".join(p for p in parts if p) or self.err.decode(
            errors="replace")

    def about(self):
        shown = " ".join(self.argv)
        return (f"{shown[:400]}\n  exit {self.code} after "
                f"{self.seconds:.2f} s\n  stdout {self.out[:1500]!r}\n"
                f"  stderr {self.err[:1500]!r}")


def table_rows(r):
    """The rows of a table that a formula wrote, as dicts; the exit code is 1 if
    a column is nothing but errors, else 0."""
    rows = list(csv.DictReader(io.StringIO(r.out.decode())))
    failed = bool(rows) and any(all(row[name].startswith("#") for row in rows)
                                for name in rows[0])
    need(r.code == (1 if failed else 0), r.about())
    return rows


def hear_out(p, stdin, timeout, watch):
    """Time in which we stood still is not the run's."""
    end = time.monotonic() + timeout
    while True:
        left = end + watch.stood_still() - time.monotonic()
        try:
            return p.communicate(stdin, max(left, 0))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= end + watch.stood_still():
                raise
        stdin = None  # it is told what it is to send once


def command(*args, stdin=b"", timeout=20, env=None, cwd=None, watch=True,
            may_leave=False, program=None):
    """Runs build/redoma; every check that holds for each run."""
    argv = [program or REDOMA, *map(str, args)]
    canary()
    began = time.monotonic()
    p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, cwd=cwd or scratch(),
                         env=dict(os.environ, **(env or {})))
    w = Watch(p.pid)
    if watch:
        w.start()
    try:
        out, err = hear_out(p, stdin, timeout, w)
    except subprocess.TimeoutExpired:
        did = doings(p.pid)
        w.stop.set()
        p.kill()
        kill_survivors()
        p.communicate()
        raise Failed(f"did not end within {timeout} s: "
                     f"{' '.join(argv)[:400]}\n  {did}") from None
    seconds = time.monotonic() - began
    w.stop.set()
    if watch:
        w.join()
    r = Run(argv, p.returncode, out, err, seconds, w)
    try:
        if not may_leave:
            left = survivors()
            need(not left, f"processes were left: {left}")
        need(SECRET.encode() not in out + err, "the canary was read")
        need(canary().read_text() == SECRET, "the canary was changed")
        need(w.own_peak < 64 * MIB + 16 * MIB,
             f"redoma itself grew to {w.own_peak >> 20} MiB")
    except Failed as e:
        kill_survivors()
        raise Failed(f"{e}\n  {r.about()}") from None
    return r


def run_json(*args, **kw):
    """The same with --json: exactly one strict JSON object and a newline."""
    at = args.index("--") if "--" in args else len(args)
    r = command(*args[:at], "--json", *args[at:], **kw)
    try:
        need(r.out.endswith(b"\n"), "no newline after the JSON")
        need(r.out.count(b"\n") == 1, "the JSON is not one line")
        r.json = strict_json(r.out)
        status = r.json.get("status")
        if status == "refused":
            e = r.json["error"]
            need(e["message"] and "\n" not in e["message"], "no one sentence")
            need(r.code in (2, 4, 5, 6, 70), "exit code of a refusal")
        else:
            need(STATUSES.get(status) == r.code,
                 f"status {status} with exit code {r.code}")
        if status not in ("ok", "refused"):
            need(r.json.get("error") or r.json.get("limit")
                 or r.json.get("denials") or r.json.get("exit_code")
                 or status == "cancelled",
                 "a failure without a word on why")
    except (Failed, ValueError, KeyError, TypeError) as e:
        raise Failed(f"{e}\n  {r.about()}") from None
    return r


def source(code, name="agent.js"):
    return write(name, code)


def js(code, *options, **kw):
    """A script, from a file: a command line ends at 128 KiB."""
    return run_json("run", source(code), *options, **kw)


def python(code, *options, **kw):
    """The Python image; what the host's own Python says is test_native's."""
    return run_json("run", source(code, "agent.py"), *options, **kw)


def expect(r, *statuses, says=None, value=..., within=None, stdout=None):
    try:
        need(r.status in statuses, f"status {r.status}, wanted {statuses}")
        if value is not ...:
            need(r.json.get("value") == value,
                 f"value {r.json.get('value')!r}, wanted {value!r}")
        if stdout is not None:
            need(r.json.get("stdout", "") == stdout,
                 f"stdout {r.json.get('stdout')!r}, wanted {stdout!r}")
        if says:
            need(says.lower() in r.text.lower(), f"nothing says {says!r}")
        if within is not None:
            need(r.seconds <= within * SLOW,
                 f"took {r.seconds:.2f} s, allowed {within:.2f} s")
    except Failed as e:
        raise Failed(f"{e}\n  {r.about()}") from None
    return r


def expect_limit(r, *statuses, limit_s=None):
    """Ended by one of these limits, in time."""
    return expect(r, *statuses,
                  within=None if limit_s is None else limit_s + GRACE)


class StandIn:
    """A copy of redoma whose worker and compiler do nothing.  The kernel tells
    of each that is opened, so also of one that was killed before its first
    instruction: what a refusal must not start is seen however short it is."""

    IN_OPEN, IN_NONBLOCK = 0x20, os.O_NONBLOCK
    PARTS = ("redoma-worker", "redoma-compile", "redoma-init")

    def __init__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.dir = scratch() / "stand-in"
        self.dir.mkdir()
        self.program = str(self.dir / "redoma")
        shutil.copy(REDOMA, self.program)
        (self.dir / "images").symlink_to(BUILD / "images")
        # It looks at what is granted, before anything is started.
        (self.dir / "redoma-usher").symlink_to(BUILD / "redoma-usher")
        self.fd = libc.inotify_init1(self.IN_NONBLOCK)
        self.names = {}
        for part in self.PARTS:
            path = self.dir / part
            path.write_text("#!/bin/sh\nexit 1\n")
            path.chmod(0o755)
            at = libc.inotify_add_watch(self.fd, bytes(path), self.IN_OPEN)
            need(at > 0, f"inotify: {os.strerror(ctypes.get_errno())}")
            self.names[at] = part
        self.try_it("fine.js", b"1", "redoma-worker")
        self.try_it("fine.wasm", b"\0asm\1\0\0\0", "redoma-compile")
        self.try_it("fine", b"#!/bin/sh\n", "redoma-init", "--native", "--")

    def try_it(self, name, data, part, *options):
        """The control: what is accepted does start it."""
        path = self.dir / name
        path.write_bytes(data)
        path.chmod(0o755)
        subprocess.run([self.program, "run", *options, path],
                       capture_output=True, timeout=20)
        started = self.started()
        need(part in started, f"{name} started {started}, not {part}")

    def started(self):
        """What was started since the last time."""
        found = set()
        try:
            data = os.read(self.fd, 65536)
        except BlockingIOError:
            return found
        while data:  # struct inotify_event
            at, _, _, n = struct.unpack_from("iIII", data)
            found.add(self.names.get(at, "?"))
            data = data[16 + n:]
        return found


def stand_in():
    if not stand_in.made:
        stand_in.made = StandIn()
    return stand_in.made


stand_in.made = None


def refused(*args, code=2, says=None, within=None, kw=None):
    """Nothing is started: one sentence and this exit code, both ways."""
    place = stand_in()
    kw = dict(kw or {}, program=place.program)
    for run in (command, run_json):
        r = run(*args, **kw)
        try:
            started = place.started()
            need(not started, f"started {started}")
            # The usher, at most.
            need(r.watch.one_peak < 8 * MIB, "started a process")
            need(r.code == code, f"exit code {r.code}, wanted {code}")
            if r.json is None:
                lines = r.err.decode().splitlines()
                need(len(lines) == 1, f"{len(lines)} lines on stderr")
                need(not r.out, "something on stdout")
                text = lines[0]
                need(text.startswith("redoma: "), "not our line")
            else:
                need(r.status in ("refused", "invalid"), f"status {r.status}")
                text = r.message or r.json["error"]["message"]
            need(len(text) > 15, "no sentence")
            for word in [says] if isinstance(says, str) else says or []:
                need(word.lower() in text.lower(), f"does not say {word!r}")
            need(not within or r.seconds < within * SLOW, "took long")
        except Failed as e:
            raise Failed(f"{e}\n  {r.about()}") from None


# ---- modules

CLANG = shutil.which("clang-19") or shutil.which("clang")
SYSROOT = ROOT / ".deps" / "wasi-libc"


def wasm(name, *flags):
    """tests/guests/wasm/NAME.c, compiled once for each set of flags."""
    src = ROOT / "tests" / "guests" / "wasm" / f"{name}.c"
    head = src.parent / "guest.h"
    digest = hashlib.sha256(src.read_bytes() + head.read_bytes()
                            + repr(flags).encode()).hexdigest()[:16]
    out = BUILD / "tests" / "wasm" / f"{name}-{digest}.wasm"
    if not out.exists() and not os.access(BUILD, os.W_OK):
        out = scratch() / out.name  # the build is another user's
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_suffix(f".{os.getpid()}")
        subprocess.run([CLANG, "--target=wasm32-wasi", f"--sysroot={SYSROOT}",
                        "-O2", "-Wall", "-Werror", "-s", *flags, str(src),
                        "-o", str(part)], check=True)
        part.rename(out)
    return out


def module(name, *args, options=(), flags=(), **kw):
    tail = ["--", *args] if args else []
    return run_json("run", wasm(name, *flags), *options, *tail, **kw)


# ---- TAP

CASES = []


def case(name):
    def add(fn):
        CASES.append((name, fn))
        return fn
    return add


def main():
    """Runs the cases, those whose name holds a word of argv if there are
    any, and ends the program."""
    words = sys.argv[1:]
    cases = [c for c in CASES
             if not words or any(w in c[0] for w in words)]
    if not os.access(REDOMA, os.X_OK):
        print(f"Bail out! {REDOMA} is not built")
        sys.exit(1)
    before, failed = traces(), 0
    try:
        for n, (name, fn) in enumerate(cases, 1):
            failed += not one(n, name, fn)
        n = len(cases) + 1
        failed += not one(n, "nothing is left on the machine",
                          lambda: nothing_left(before))
        print(f"1..{n}")
    finally:
        if scratch.path:
            shutil.rmtree(scratch.path, ignore_errors=True)
    sys.exit(failed > 0)


def one(n, name, fn):
    began = time.monotonic()
    try:
        fn()
    except Skipped as e:
        print(f"ok {n} - {name} # SKIP {e}", flush=True)
        return True
    except Exception as e:  # any fault of a case is its failure
        print(f"not ok {n} - {name}")
        for line in (str(e) or repr(e)).splitlines():
            print(f"#   {line}")
        if not isinstance(e, Failed):
            import traceback
            for line in traceback.format_exc().splitlines():
                print(f"#   {line}")
        sys.stdout.flush()
        return False
    print(f"ok {n} - {name}")
    print(f"#   {time.monotonic() - began:.2f} s", flush=True)
    return True


def nothing_left(before):
    """Other tests may run beside this one: what they have goes away."""
    end = time.monotonic() + 10
    while new := traces() - before:
        if time.monotonic() > end:
            raise Failed(f"left: {sorted(new)[:5]}")
        time.sleep(0.1)

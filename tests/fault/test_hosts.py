#!/usr/bin/env python3
"""test-seconds: 400
Hosts that lack something: doctor names the tier in a line, a run that asks for
every wall is refused in the same words, one that names what is missing runs
and reports it, and what it must not reach stays out of reach there too."""
import contextlib
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_hosts import *

KEY = {"landlock": "landlock", "seccomp": "seccomp", "cgroup": "cgroup",
       "rlimits": "rlimits", "capabilities": "caps", "no-new-privs": "caps"}
REACHED = {"read", "tcp", "socket", "abstract", "kill"}
AS_ROOT = {"setns", "mount"}


def answer(host, *args, code=0):
    at = args.index("--") if "--" in args else len(args)
    p = host.run(*args[:at], "--json", *args[at:])
    need(p.returncode == code, f"{host.name}: {p}")
    return strict_json(p.stdout)


def walls(text, some):
    """The list in "need --walls A,B", "" for "run"."""
    need(text == "run" or text.startswith("need --walls "), f"{some}: {text}")
    return "" if text == "run" else text.split(" ")[-1]


def doctor(host):
    said = answer(host, "doctor")
    line = host.run("doctor").stdout.decode().splitlines()[0]
    need(line.startswith(f"tier: {said['tier']['name']}."), line)
    need(said["tier"]["wasm"] in line and said["tier"]["native"] in line, line)
    for c in said["controls"]:
        need(c["state"] == "enforced" or c["remedy"] and c["detail"], f"{c}")
    return said["tier"], {c["name"] for c in said["controls"]
                          if c["state"] == "unavailable"}


def options(text):
    return ("--walls", text) if text else ()


def refuses(host, args, text=None):
    """With exit code 6 and one sentence that ends with the remedy."""
    p = host.run(*args)
    need(p.returncode == 6 and not p.stdout, f"{host.name}: {p}")
    need(p.stderr.count(b"\n") == 1 and b"; " in p.stderr, f"{p}")
    error = answer(host, *args, code=6)["error"]
    need(error["message"] in p.stderr.decode(), f"{p}")
    need(error["code"] == "unsupported", f"{host.name}: {error}")
    need(text is None or error["message"] == text,
         f"{host.name}: doctor says {text!r}, the run {error['message']!r}")


def reports(r, missing):
    """The result names exactly these as unavailable."""
    want = {KEY.get(c, "namespaces") for c in missing.split(",") if c}
    kernel = r["walls"]["kernel"]
    got = {k for k, v in kernel.items() if v == "unavailable"}
    need(got == want, f"{kernel}, wanted {want}")
    need(all(v.startswith(("enforced", "unavailable"))
             for v in kernel.values()), f"{kernel}")


def weaker(text):
    """A list that lacks one of what has to be named."""
    return ",".join(text.split(",")[1:])


def check_wasm(host, needs, grouped):
    """A control group is not asked for, but is there where it can be."""
    lacks = needs if grouped else f"{needs},cgroup"
    out = scratch() / "out"
    out.mkdir(exist_ok=True)
    out.chmod(0o777)
    (out / "f").unlink(missing_ok=True)
    script = source("const fs = require('node:fs'); fs.writeFileSync('/o', "
                    "'x'); console.log('ran')", "every.js")
    what = ("run", script, "--write", f"{out}/f=/o:1KiB")
    if needs:
        refuses(host, what)
        refuses(host, (*what, *options(weaker(needs))))
        refuses(host, (*what, "--walls", "rlimits"))
    need(not (out / "f").exists(), f"{host.name}: something was written")
    r = answer(host, *what, *options(needs))
    need(r["status"] == "ok" and r["stdout"] == "ran\n", f"{host.name}: {r}")
    need((out / "f").read_text() == "x", "nothing was written")
    reports(r, lacks)
    r = answer(host, "run", wasm("files"), *options(needs), code=1)
    need(r["stderr"] == "no such command\n", f"{r}")
    reports(r, lacks)


NATIVE = (("--", "sh", "-c", "echo ran"), ("one.js", "6 * 7"),
          ("one.py", "6 * 7"))


def words_of(row):
    return row if row[0] == "--" else (source(row[1], row[0]),)


def check_native(host, tier, needs):
    run = ("run", "--native")
    sh = words_of(NATIVE[0])
    if needs is None or needs:
        refuses(host, (*run, *sh), tier["why"])
    if needs is None:
        why = tier["native"].removeprefix("cannot run: ")
        need(why != tier["native"], f"{tier}")
        every = SPACES + ",capabilities,no-new-privs,landlock,seccomp,cgroup"
        refuses(host, (*run, "--walls", every, *sh), why)
        return
    if needs:
        refuses(host, (*run, *options(weaker(needs)), *sh), tier["why"])
        refuses(host, (*run, "--walls", "rlimits", *sh), tier["why"])
    for row in NATIVE:
        r = answer_native(host, needs, *words_of(row))
        need(r.get("stdout") == "ran\n" or r.get("value") == 42, f"{r}")
        reports(r, needs)
        none = "no /proc" in tier["name"]
        need(r["walls"]["proc"] == ("none" if none else "own"), f"{r}")


def answer_native(host, needs, *words, limits=()):
    p = host.run("run", "--native", *options(needs), *limits, "--json", *words)
    need(p.returncode == 0, f"{host.name}: {p}")
    r = strict_json(p.stdout)
    need(r["status"] == "ok", f"{host.name}: {r}")
    return r


for _row in HOSTS:
    @case(f"{_row[0].name}: {_row[1]}")
    def _(row=_row):
        host, name, on_wasm, on_native = row
        host.here()
        tier, missing = doctor(host)
        if os.geteuid() and host.uid is None and "control group" not in name:
            raise Skipped("root, for the tier that is expected")
        need(tier["name"] == name, f"{tier}")
        need(walls(tier["wasm"], "wasm") == on_wasm, f"{tier}")
        need(missing - {"cgroup"} == set(on_wasm.split(",")) - {""},
             f"{missing}")
        need(("cgroup" in missing) == ("control group" in name), f"{missing}")
        if on_native is not None:
            need(walls(tier["native"], "native") == on_native, f"{tier}")
        need(("why" in tier) == (on_native != ""), f"{tier}")
        check_wasm(host, on_wasm, "control group" not in name)
        check_native(host, tier, on_native)


# ---- what stays out of reach

def reach():
    """The attacks, compiled for everybody."""
    out = scratch() / "reach"
    if not out.exists():
        cc = shutil.which("cc", path="/usr/local/bin:/usr/bin:/bin")
        if not cc:
            raise Skipped("no C compiler")
        subprocess.run([cc, "-D_GNU_SOURCE", "-w", "-O1", "-o", out,
                        ROOT / "tests/guests/native/reach.c"], check=True,
                       timeout=60)
    return str(out)


class Outside:
    """What must not be reached."""

    def __init__(self):
        name = f"redoma-test-{os.getpid()}-{time.monotonic_ns()}"
        self.path = str(scratch() / "s")
        pathlib.Path(self.path).unlink(missing_ok=True)
        self.ears = [socket.socket(),
                     *(socket.socket(socket.AF_UNIX) for _ in range(2))]
        self.ears[0].bind(("127.0.0.1", 0))
        self.ears[1].bind(self.path)
        self.ears[2].bind("\0" + name)
        os.chmod(self.path, 0o777)
        for s in self.ears:
            s.listen(8)
            s.setblocking(False)
        self.victim = subprocess.Popen(["sleep", "120"])
        self.args = [str(canary()), str(self.ears[0].getsockname()[1]),
                     self.path, name, str(self.victim.pid)]

    def heard(self):
        for s in self.ears:
            try:
                s.accept()
            except BlockingIOError:
                continue
            return True
        return False

    def unharmed(self):
        return (self.victim.poll() is None and not self.heard()
                and canary().read_text() == SECRET)

    def close(self):
        for s in self.ears:
            s.close()
        self.victim.kill()
        self.victim.wait()


@case("without a jail each of the attacks succeeds")
def _():
    root = os.geteuid() == 0
    alone = ["unshare", "-m", "--propagation", "private"] if root else []
    with contextlib.closing(Outside()) as o:
        p = subprocess.run([*alone, reach(), *o.args], capture_output=True,
                           text=True, timeout=30)
        need(o.heard() and o.victim.wait(5), "nothing was heard")
    got = set(p.stdout.split()) - {"end", "unshare"}
    need(got >= REACHED | (AS_ROOT if root else set()), f"{p}")


for _row in HOSTS:
    if _row[3] is not None:
        @case(f"{_row[0].name}: nothing outside is reached")
        def _(host=_row[0], needs=_row[3]):
            host.here()
            with contextlib.closing(Outside()) as o:
                p = host.start([REDOMA, "run", "--native", *options(needs),
                                "--json", "--", reach(), *o.args])
                out, err = p.communicate(timeout=60)
                if os.geteuid() and p.returncode == 6:
                    raise Skipped("root, for a control group")
                need(p.returncode == 0, f"{out} {err}")
                r = strict_json(out)
                need(r["stdout"] == "end\n", f"{host.name}: reached {r}")
                need(o.unharmed(), f"{host.name}: harmed")


def hostile(worker):
    """An install whose workers do what a guest could that got through wall 1;
    tests/hostile/traitor.c."""
    d = scratch() / worker
    if not d.exists():
        (d / "images").mkdir(parents=True)
        for name in ("redoma", "redoma-usher"):
            shutil.copy(BUILD / name, d)
        shutil.copy(BUILD / "tests/hostile" / worker, d / "redoma-worker")
        for name in ("js.wasm", "js.cwasm", "js.fuel.cwasm"):
            shutil.copy(BUILD / "images" / name, d / "images")
    return d / "redoma"


TREASON = ("socket", "open", "fork", "exec", "kill", "namespace", "memfd")

# What stops them where there is no filter: tests/escape/jail_*.c.
for _row in HOSTS:
    if "seccomp" not in _row[2]:
        @case(f"{_row[0].name}: a worker that has turned is stopped at once")
        def _(host=_row[0], needs=_row[2]):
            host.here()
            for attack in TREASON:
                p = host.run("run", *options(needs), "--json",
                             source(f"//!{attack}", "turned.js"),
                             program=hostile("traitor"))
                r = strict_json(p.stdout)
                need(r["status"] == "breach" and p.returncode == 9,
                     f"{host.name}: {attack}: {p}")


@case("a worker that has turned, without a jail: each attack succeeds")
def _():
    for attack in TREASON:
        p = FULL.run("run", "--json", source(f"//!{attack}", "turned.js"),
                     program=hostile("traitor-bare"))
        need("won" in p.stdout.decode(), f"{attack}: {p}")


# ---- without a control group

GROUPLESS = [h for h, _, _, native in HOSTS if native == "cgroup"]


@case("without a control group rlimits hold the memory and the processes")
def _():
    code = ("import os\nok = 0\n"
            "try:\n b = bytearray(200 << 20)\n ok = 1\n"
            "except MemoryError:\n pass\n"
            "n = 0\n"
            "try:\n"
            " for n in range(60):\n"
            "  if not os.fork():\n   import time\n   time.sleep(20)\n"
            "except BlockingIOError:\n pass\n"
            "print(ok, n)")
    for host in GROUPLESS:
        host.here()
        for cap, wanted in (("64MiB", "0"), ("400MiB", "1")):
            r = answer_native(
                host, "cgroup", "--", "python3", "-c", code,
                limits=("--limit", f"memory={cap}", "--jail", "pids=10"))
            ok, n = r["stdout"].split()
            need(ok == wanted and int(n) < 10, f"{host.name}: {cap}: {r}")


@case("without a control group the sentence says how to get one")
def _():
    for host in GROUPLESS:
        host.here()
        p = host.run("run", "--native", "--", "true")
        need(b"systemd-run --user --scope -p Delegate=yes)\n" in p.stderr,
             f"{p}")


# ---- one in the other

@case("inside a native jail of its own: refused, and says why")
def _():
    root = scratch() / "nested"
    parts = ["redoma", "redoma-worker", "redoma-init", "redoma-compile",
             "redoma-usher"]
    (root / "bin/images").mkdir(parents=True)
    for part in parts:
        shutil.copy(BUILD / part, root / "bin" / part)
        p = subprocess.run(["ldd", BUILD / part], capture_output=True,
                           text=True)
        for word in p.stdout.split():
            if word[0] == "/" and os.path.exists(word):
                at = root / word[1:]
                at.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(word, at)
    shutil.copy(BUILD / "images/js.cwasm", root / "bin/images")
    shutil.copy(BUILD / "images/js.fuel.cwasm", root / "bin/images")
    needs = "" if os.geteuid() == 0 else "cgroup"
    for words, says in (
            # The stack of what runs in a jail is smaller than guests need.
            (("eval", "js", "6*7"), "stack limit"),
            (("run", "--native", "--walls", "cgroup", "--", "/bin/redoma",
              "version"), "a jail of Redoma is one")):
        p = FULL.run("run", "--native", *options(needs), "--jail",
                     f"root={root}", "--json", "--", "/bin/redoma", *words)
        r = strict_json(p.stdout)
        need(r["status"] == "error" and r["exit_code"] == 6
             and "stdout" not in r, f"{words}: {r}")
        need(says in r["stderr"] and r["stderr"].count("\n") == 1,
             f"{words}: {r}")


@case("inside bubblewrap, with namespaces of its own and without")
def _():
    if not shutil.which("bwrap"):
        raise Skipped("bwrap")
    bind = ["--dev-bind", "/", "/", "--proc", "/proc"]
    ways = [(uid, extra) for uid in (None, ORDINARY)
            for extra in ([], ["--unshare-all"])]
    for uid, extra in ways:
        host = Host("bubblewrap", uid=uid)
        if uid is not None and os.geteuid():
            continue
        p = host.run(*extra, *bind, REDOMA, "doctor", "--json",
                     program="bwrap")
        if p.returncode:  # the host's root is the only user in there
            need(uid is None and extra and p.returncode == 6
                 and b"start as an ordinary user" in p.stdout, f"{p}")
            p = host.run(*extra, *bind, REDOMA, "eval", "js", "6*7",
                         program="bwrap")
            need(p.returncode == 6 and b"start as an ordinary" in p.stderr,
                 f"{p}")
            continue
        tier = strict_json(p.stdout)["tier"]
        # bubblewrap lays read-only mounts over parts of /proc.
        need(set(tier["name"].split("; ")) <= {"full", "no control group",
                                               "no /proc"}, f"{tier}")
        p = host.run(*extra, *bind, REDOMA, "eval", "js", "6*7",
                     program="bwrap")
        need(p.stdout == b"42\n", f"{p}")
        p = host.run(*extra, *bind, REDOMA, "run", "--native",
                     *options(walls(tier["native"], "native")), "--", "sh",
                     "-c", "echo ran", program="bwrap")
        need(p.stdout == b"ran\n", f"{p}")


# ---- no standard descriptors

@case("started without descriptors 0, 1, 2: none of them is taken for another")
def _():
    out = scratch() / "closed"
    script = source("require('node:fs').writeFileSync('/o', 'x');"
                    "console.log('on 1'); console.error('on 2')", "two.js")
    needs = options("" if os.geteuid() == 0 else "cgroup")
    sets = [c for n in range(8)
            if (c := tuple(i for i in range(3) if n & 1 << i))]
    for closed in sets:
        host = Host("closed", closed=closed)
        for what in ((script,), ("--native", *needs, "--", "sh", "-c",
                                 "echo x >/o; echo on 1; echo on 2 >&2")):
            out.unlink(missing_ok=True)
            grant = ("--write", f"{out}=/o:1KiB")
            p = host.run("run", *grant, *what)
            fine = 1 not in closed and 2 not in closed
            need(p.returncode == (0 if fine else 70), f"{closed}: {p}")
            need(out.read_text().strip() == "x", f"{closed}: the file: {p}")
            need(p.stdout in (b"", b"on 1\n"), f"{closed}: {p}")
            need(2 in closed or p.stderr, f"{closed}: no word: {p}")


if __name__ == "__main__":
    main()

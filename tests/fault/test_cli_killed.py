#!/usr/bin/env python3
"""test-seconds: 280
The command itself is killed at random moments, 200 times and more: no process
of it is left within two seconds.  And where it is not at home: as the first
process of a pid namespace, as an ordinary user, without user namespaces."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_redoma import *
import lib_wasm as W

ROUNDS = 220
random.seed(20261130)


def launch(*args):
    return subprocess.Popen([REDOMA, *map(str, args)], cwd=scratch(),
                            stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def kill_after(p, seconds, sig=signal.SIGKILL):
    time.sleep(seconds)
    p.send_signal(sig)
    return p.wait(timeout=10)


def nothing_left(seconds=2.0):
    left = survivors(seconds)
    if left:
        names = [pathlib.Path(f"/proc/{l}/comm").read_text() for l in left]
        kill_survivors()
        raise Failed(f"left after {seconds} s: {names}")


def slow_module():
    """Some seconds of compiling, more than a check waits for."""
    one, n = W.const(1) + W.DROP, 12
    code = W.body(one * (5_000_000 // len(one)))
    return write("slow.wasm", W.module(functions=(0,) * n, codes=(code,) * n))


@case(f"killed {ROUNDS} times at random moments of a script")
def _():
    script = source("let n = 0; for (let i = 0; i < 2e5; i++) n += i; n")
    for i in range(ROUNDS):
        p = launch("run", script)
        kill_after(p, random.uniform(0, 0.030))
        if i % 20 == 19:
            nothing_left()
    nothing_left()  # files: checked at the end of this program


@case("killed at random moments of an endless script with files")
def _():
    out = scratch() / "out"
    out.mkdir(exist_ok=True)
    script = source("import fs from 'node:fs';"
                    "for (;;) fs.writeFileSync('/out/a', 'x'.repeat(1e4))",
                    "write.js")
    for _ in range(30):
        p = launch("run", script, "--write", f"{out}/=/out/:1MiB")
        kill_after(p, random.uniform(0, 0.060))
        nothing_left()
    need(not list(out.iterdir()), f"{list(out.iterdir())}")


@case("killed while a module is compiled: the compiler goes too")
def _():
    module = slow_module()
    for i in range(12):
        p = launch("run", module)
        need(kill_after(p, 0.01 + 0.04 * i) == -signal.SIGKILL, "it ended")
        nothing_left()


@case("cancelled while a module is compiled")
def _():
    module = slow_module()
    for sig in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([REDOMA, "run", str(module), "--json"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(0.4)
        began = time.monotonic()
        p.send_signal(sig)
        out, err = p.communicate(timeout=15)
        need(time.monotonic() - began < 2, "it did not end at once")
        need(p.returncode == 130, f"{p.returncode} {out} {err}")
        need(strict_json(out)["status"] == "cancelled", f"{out} {err}")
        nothing_left()


@case("a table is cancelled between two blocks of it as well as in one")
def _():
    d = scratch() / "table"
    d.mkdir()
    (d / "t.csv").write_text("a\n" + "1\n" * 6000000)
    for i in range(8):
        p = subprocess.Popen(
            [REDOMA, "formula", "a*2", "t.csv", "-o", "o.csv"], cwd=d,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        time.sleep(0.15 + 0.02 * i)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=30)
        need(p.returncode == 130, f"{p.returncode} {out} {err}")
        need(err == b"redoma: cancelled\n", err)
        need(os.listdir(d) == ["t.csv"], os.listdir(d))
    nothing_left()


def as_root():
    if os.geteuid():
        raise Skipped("root")


def unshare(*options):
    as_root()
    if not shutil.which("unshare"):
        raise Skipped("unshare(1)")
    return ["unshare", *options]


@case("as the first process of a pid namespace: no zombie after 200 runs")
def _():
    script = ("n=0; while [ $n -lt 200 ]; do %s eval js '6*7' >/dev/null || "
              "exit 3; n=$((n+1)); done; "
              "cat /proc/[0-9]*/stat | awk '{print $3}' | grep -c Z"
              % REDOMA)
    p = subprocess.run(unshare("-pf", "--mount-proc") + ["sh", "-c", script],
                       capture_output=True, timeout=120)
    need(p.stdout.strip() == b"0", f"{p.returncode} {p.stdout} {p.stderr}")


# As a first process that never waits for what is not its own.
NEGLECT = """
import os, subprocess, sys
def zombies():
    states = [open(f'/proc/{p}/stat').read().rpartition(')')[2].split()[0]
              for p in os.listdir('/proc') if p.isdigit()]
    return states.count('Z'), len(states)
for _ in range(100):
    subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(*zombies())
subprocess.run(['sh', '-c', '(exit 0) & exec sleep 0.1'])
subprocess.run(['sh', '-c', 'sleep 0.1 & exit'])
__import__('time').sleep(0.3)
print(*zombies())
"""


@case("the same with native programs, where nobody waits for what is left")
def _():
    lacking = ["--walls", "cgroup"] if "cgroup" in command(
        "run", "--native", "--", "true").text else []
    p = subprocess.run(
        unshare("-pf", "--mount-proc") +
        [sys.executable, "-c", NEGLECT, REDOMA, "run", "--native", *lacking,
         "--", "sh", "-c", "sleep 9 & (sleep 9 &) & echo on"],
        capture_output=True, timeout=200)
    need(p.returncode == 0, f"{p}")
    after, control = p.stdout.decode().splitlines()
    need(after == "0 1", f"zombies, processes: {p}")
    need(control != "0 1", f"the control: {p}")


@case("as process 1 itself")
def _():
    for _ in range(20):
        p = subprocess.run(unshare("-pf", "--mount-proc") +
                           [REDOMA, "eval", "js", "6*7"],
                           capture_output=True, timeout=20)
        need(p.stdout == b"42\n", f"{p.returncode} {p.stdout} {p.stderr}")


@case("without user namespaces it refuses by name, and nothing runs")
def _():
    none = "echo 0 > /proc/sys/user/max_user_namespaces && exec "
    module = write("none.wasm", W.module(codes=(W.body(b""),)))
    for argv in ([REDOMA, "eval", "js", "console.log(6 * 7)"],
                 [REDOMA, "run", str(module)]):
        shell = unshare("-Ur", "sh", "-c", none + '"$@"', "sh", *argv)
        for p in (ordinary(*shell),
                  subprocess.run(shell, capture_output=True, timeout=20)):
            need(p.returncode == 6, f"{p}")
            need(not p.stdout, f"{p}")
            need(b"user" in p.stderr and b"namespace" in p.stderr, f"{p}")


def ordinary(*argv, timeout=60):
    """The same as nobody, with a home and a folder of its own."""
    as_root()
    home = scratch() / "nobody"
    home.mkdir(exist_ok=True)
    os.chown(home, 65534, 65534)
    for up in pathlib.Path(REDOMA).parents:
        if not up.stat().st_mode & 0o001:
            raise Skipped("a build that other users may reach")
    return subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
         *map(str, argv)], cwd=home, capture_output=True, timeout=timeout,
        env=dict(os.environ, HOME=str(home), TMPDIR=str(home)))


@case("as an ordinary user: runs, files, limits, modules")
def _():
    p = ordinary(REDOMA, "eval", "js", "6*7", "--json")
    r = strict_json(p.stdout)
    need(r["status"] == "ok" and r["value"] == 42, f"{r}")
    kernel = dict(r["walls"]["kernel"])
    kernel.pop("cgroup")
    need(all(v.startswith("enforced") for v in kernel.values()), f"{kernel}")
    p = ordinary(REDOMA, "eval", "js", "for(;;);", "--limit", "wall=100ms")
    need(p.returncode == 3, f"{p}")
    home = scratch() / "nobody"
    p = ordinary(REDOMA, "eval", "js",
                 "import('node:fs').then(f => f.writeFileSync('/o', 'x'))",
                 "--write", f"{home}/o=/o:1KiB")
    need(p.returncode == 0 and (home / "o").read_text() == "x", f"{p}")
    module = write("empty.wasm", W.module(codes=(W.body(b""),)))
    p = ordinary(REDOMA, "run", module)
    need(p.returncode == 0, f"{p}")
    nothing_left()


@case("a control named in walls is enforced all the same where there is one")
def _():
    every = ("user mount pid net ipc uts cgroup-namespace capabilities "
             "no-new-privs landlock rlimits seccomp").split()
    full = js("1").json["walls"]["kernel"]
    for wall in every:
        r = expect(js("1", "--walls", wall), "ok")
        need(r.json["walls"]["kernel"] == full, f"{wall}: {r.json}")


@case("as an ordinary user: a worker that turned")
def _():
    for name in ("api_breach", "api_reuse", "escape_jail_files",
                 "escape_jail_net", "escape_jail_process",
                 "escape_jail_kernel"):
        p = ordinary(BUILD / "tests" / name, timeout=120)
        need(p.returncode in (0, 77),
             f"{name}: {p.returncode} {p.stdout[-1500:]} {p.stderr[-500:]}")
    nothing_left()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""test-seconds: 400
SIGKILL to spawner, mounter, init and the command itself at any moment of a
native run, on every host where native programs run: nothing of it lives on,
and once the next run is over no control group is left."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_hosts import *

ROLES = ("redoma-spawner", "redoma-mounter", "redoma-init", "redoma")
# Seconds after the process was first seen, while the jail is made.
DELAYS = (0.0, 0.002, 0.01, 0.03)
PROGRAM = "sleep 30 & sleep 30 & echo up; wait"
SEEN = set()  # processes of ours that may have made groups


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def kill_when(p, name, delay, within=10.0):
    """SIGKILL to the process of that name.  False: it ended before."""
    end = time.monotonic() + within
    while time.monotonic() < end and p.poll() is None:
        for pid in tree_below(os.getpid()):
            SEEN.add(str(pid))
            if name_of(pid) != name or (name == "redoma" and pid != p.pid):
                continue
            time.sleep(delay)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                return False
            return True
        time.sleep(0.0005)
    return False


def groups():
    """Of makers that were ours: redoma-NS-PID-START-N."""
    return {t for t in traces() if t.startswith("/sys/fs/cgroup")
            and (t.rpartition("/")[2].split("-") + [""] * 3)[2] in SEEN}


def nothing_lives(what, seconds=5):
    left = survivors(seconds)
    need(not left, f"{what}: left {[(i, name_of(i)) for i in left]}")


def start(host, needs, wall, *options):
    walls = ["--walls", needs] if needs else []
    return host.start([REDOMA, "run", "--native", *walls, *options, "--limit",
                       f"wall={wall}", "--", "sh", "-c", PROGRAM])


def finish(p, what):
    try:
        out, err = p.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        p.kill()
        kill_survivors()
        raise Failed(f"{what}: the command hangs") from None
    nothing_lives(what)
    return out, err


def early(host, needs, role):
    """Any moment while the jail is made: a spawner that is killed then is
    replaced once, so the run may still come to its end."""
    delay = random.choice(DELAYS)
    what = f"{host.name}: {role} {delay} s after it was seen"
    p = start(host, needs, "1500ms", "--json")
    hit = kill_when(p, role, delay)
    out, err = finish(p, what)
    if p.returncode == -signal.SIGKILL:
        need(hit and role == "redoma", f"{what}: {p} {err}")
        return hit
    r = strict_json(out)
    need(r["status"] in ("crashed", "refused", "wall_limit"), f"{what}: {r}")
    need(r.get("error", {}).get("message") or r.get("limit"), f"{what}: {r}")
    return hit


def running(host, needs, role):
    """While the program runs: it ends at once."""
    what = f"{host.name}: {role}, while the program runs"
    p = start(host, needs, "1500ms" if role == "redoma-mounter" else "15s",
              "--json")
    end = time.monotonic() + 10
    while [name_of(i) for i in tree_below(os.getpid())].count("sleep") < 2:
        need(time.monotonic() < end and p.poll() is None,
             f"{what}: it does not come to run")
        time.sleep(0.002)
    began = time.monotonic()
    need(kill_when(p, role, random.uniform(0, 0.02)), f"{what}: not found")
    out, err = finish(p, what)
    took = time.monotonic() - began
    # A run without grants does not need the mounter any more.  Without the
    # spawner nobody can say how it ended.
    codes = {"redoma": [-signal.SIGKILL], "redoma-mounter": [3, 7, 70],
             "redoma-init": [7], "redoma-spawner": [70]}[role]
    need(p.returncode in codes, f"{what}: {p.returncode} {out} {err}")
    if role == "redoma-spawner":
        told = strict_json(out)["error"]["message"]
        need("redoma-spawner" in told and "run it again" in told, told)
    need(bool(out) == (role != "redoma"), f"{what}: {out}")
    need(took < 8 * SLOW, f"{what}: {took:.1f} s")


def next_run_is_right(host, needs):
    words = ["--walls", needs] if needs else []
    p = host.run("run", "--native", *words, "--", "sh", "-c", "echo fine")
    need(p.returncode == 0 and p.stdout == b"fine\n", f"{host.name}: {p}")
    # Where there are no groups, none was made.
    need(not groups(), f"{host.name}: left {groups()}")


for _host, _, _, _native in HOSTS:
    if _native is not None:
        @case(f"{_host.name}: killed at any moment")
        def _(host=_host, needs=_native):
            host.here()
            if os.geteuid() and needs != "cgroup":
                raise Skipped("root, for a control group")
            hits = 0
            for role in ROLES:
                hits += early(host, needs, role)
                running(host, needs, role)
            need(hits >= 2, f"only {hits} were hit early")
            next_run_is_right(host, needs)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""test-seconds: 240
Kernels that lack a control, one for each: the run is refused by name before
anything of it runs; with the control in --walls it runs, and its result says
that the control is missing.

What is lacking is made so by a seccomp filter that is put around the command
(its calls fail as on such a kernel), or by a limit of 0 on a kind of
namespace."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_hosts import *

KEEP_STACK = (SAME, 1, 3)        # the engine's own stack is raised before


# control: (calls that fail, what the refusal says, key in walls.kernel)
LACKING = {
    "user": (ns(0x10000000), "user namespace", "namespaces"),
    "mount": (ns(0x00020000), "mount namespace", "namespaces"),
    "net": (ns(0x40000000), "net namespace", "namespaces"),
    "ipc": (ns(0x08000000), "ipc namespace", "namespaces"),
    "uts": (ns(0x04000000), "uts namespace", "namespaces"),
    "cgroup-namespace": (ns(0x02000000), "cgroup namespace", "namespaces"),
    "capabilities": ([(CAPSET, errno.EPERM, None)], "capabilities", "caps"),
    "no-new-privs": ([(PRCTL, errno.EINVAL, (SAME, 0, PR_SET_NO_NEW_PRIVS))],
                     "no_new_privs", "caps"),
    "landlock": ([(LANDLOCK_CREATE, errno.ENOSYS, None)], "Landlock",
                 "landlock"),
    "landlock that does not restrict": (
        [(LANDLOCK_RESTRICT, errno.EPERM, None)], "Landlock", "landlock"),
    "rlimits": ([(PRLIMIT, errno.EPERM, (SAME, 1, 4)),
                 (PRLIMIT, errno.EPERM, (SAME, 1, 2))], "limit", "rlimits"),
    "seccomp": ([(SECCOMP, errno.ENOSYS, None)], "system call filter",
                "seccomp"),
}
EVERY = "import fs from 'node:fs'; console.log('ran');" \
        "fs.writeFileSync('/o', 'x')"


def lacking(rows, *args):
    """The command where the calls of these rows fail, or (a text) that kind
    of namespace."""
    host = (Host("lacking", limit=rows) if isinstance(rows, str)
            else Host("lacking", rows))
    return host.run(*map(str, args))


def check(control, rows, says, key):
    """Refused without --walls, for both languages; reported with it."""
    out = scratch() / "out.txt"
    out.unlink(missing_ok=True)
    script = source(EVERY, "every.js")
    grant = ("--write", f"{out}=/o:1KiB")
    for what in ((script, *grant), (wasm("files"),)):
        p = lacking(rows, "run", *what)
        need(p.returncode == 6 and not p.stdout, f"{control}: {p}")
        need(p.stderr.count(b"\n") == 1 and says in p.stderr.decode()
             and b"; " in p.stderr, f"{control}: {p.stderr}")
        p = lacking(rows, "run", *what, "--json")
        r = strict_json(p.stdout)
        need(r["status"] == "refused" and p.returncode == 6
             and says in r["error"]["message"], f"{control}: {r}")
    need(not out.exists(), f"{control}: something was written")
    other = "ipc" if control != "ipc" else "uts"
    p = lacking(rows, "run", script, *grant, "--walls", other)
    need(p.returncode == 6 and not p.stdout, f"{control}: {p}")
    p = lacking(rows, "run", script, *grant, "--walls", control, "--json")
    r = strict_json(p.stdout)
    need(r["status"] == "ok" and r["stdout"] == "ran\n"
         and out.read_text() == "x", f"{control}: {r}")
    kernel = r["walls"]["kernel"]
    need(kernel.pop(key) == "unavailable", f"{control}: {r['walls']}")
    kernel.pop("cgroup")
    need(all(v.startswith("enforced") for v in kernel.values()), f"{kernel}")


for _name, (_rows, _says, _key) in LACKING.items():
    @case(f"lacking: {_name}")
    def _(name=_name, rows=_rows, says=_says, key=_key):
        check(name.split()[0], rows, says, key)


KINDS = {"pid": "pid", "mount": "mnt", "net": "net", "ipc": "ipc",
         "uts": "uts", "cgroup-namespace": "cgroup"}
for _name, _kind in KINDS.items():
    @case(f"lacking: {_name}, by a limit of 0 on its namespaces")
    def _(name=_name, kind=_kind):
        check(name, kind, f"{name.split('-')[0]} namespace", "namespaces")


@case("doctor names what is lacking, with a remedy")
def _():
    for name, (rows, _, _) in LACKING.items():
        # Without capset(2) root cannot become the jail's user: no answer.
        if name == "capabilities" and not os.geteuid():
            continue
        p = lacking(rows, "doctor", "--json")
        controls = strict_json(p.stdout)["controls"]
        for c in controls:
            if c["name"] == name.split()[0]:
                need(c["state"] == "unavailable" and c["remedy"]
                     and c["detail"], f"{name}: {c}")
            elif c["name"] != "cgroup":
                need(c["state"] == "enforced", f"{name}: {c}")


@case("doctor --attack tries nothing where a control is missing")
def _():
    p = lacking(LACKING["landlock"][0], "doctor", "--attack", "--json")
    need(p.returncode == 6, f"{p}")
    for a in strict_json(p.stdout)["attacks"]:
        need(a["result"] == "skipped" and a["wall"] is None
             and "landlock" in a["detail"].lower(), str(a))


@case("what the filters allow runs as it always does")
def _():
    p = lacking([(CLONE3 + 1000, errno.ENOSYS, None)], "eval", "js", "6*7")
    need(p.stdout == b"42\n" and p.returncode == 0, f"{p}")


if __name__ == "__main__":
    main()

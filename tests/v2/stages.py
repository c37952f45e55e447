#!/usr/bin/env python3
"""Runs the stages inside the machine of tests/v2/run, each in a control group
of its own kind.

Usage: stages.py [--stage=NAME]... [WORD]...
       stages.py --inside TEST... -- [WORD]...

A stage is one way in which a program can stand in a hierarchy of cgroup v2.
With --inside we are in that group already, and run tests there: those of
tests/run.py whose names begin with TEST, and "checks", "refusals" and "attack",
which are files beside this one; WORDs select some of these.
"""
import ctypes, fcntl, os, pathlib, socket, struct, subprocess, sys, time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import run

BUILD = pathlib.Path(os.environ["REDOMA_BUILD"])
TOP = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = "+memory +pids +cpu"
USER = 1000
GIVEN = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
CLONE_NEWNS, CLONE_NEWCGROUP = 0x20000, 0x02000000

GROUPS = ["unit_jail_group"]
NATIVE = ["unit_jail_native", "unit_native_boot", "unit_native_collect",
          "unit_native_pump", "unit_native_spawner", "unit_native_warm"]
COMMAND = ["escape_native", "attack"]
EVERYTHING = ["escape_jail", "unit_jail", "limits_group", *NATIVE, *COMMAND]
HARDLY_LESS = ["unit_jail_group", "limits_group", *NATIVE, "escape_jail",
               *COMMAND]


def make(name):
    """A group below the root of the hierarchy, with controllers for its
    children."""
    at = TOP / name
    at.mkdir()
    return at


def delegate(at):
    """cgroup-v2.rst, "Model of Delegation"."""
    os.chown(at, USER, USER)
    for name in GIVEN:
        os.chown(at / name, USER, USER)


def enter(at):
    (at / "cgroup.procs").write_text("0")


# ---- where a program stands

def at_root():
    pass


def in_a_group_with_others():
    enter(make("shared"))  # what runs the tests is there as well


def beside_scopes(user=0):
    os.environ["REDOMA_PROGRAM"] = str(HERE / "in_scope")
    os.environ["REDOMA_SCOPE_USER"] = str(user)


def beside_scopes_of_a_user():
    beside_scopes(USER)


def delegated(name):
    """What systemd's DelegateSubgroup= makes: the group that is delegated has
    no process; a group in it has."""
    at = make(name)
    delegate(at)
    (at / "host").mkdir()
    delegate(at / "host")
    enter(at / "host")
    return at


def in_what_is_delegated():
    delegated("delegated")


def in_what_systemd_marked():
    pathlib.Path("/run/systemd/system").mkdir(parents=True, exist_ok=True)
    os.setxattr(delegated("marked"), "trusted.delegate", b"1")
    os.setxattr(TOP / "marked", "user.delegate", b"1")


def mount(options):
    call(libc().mount(b"none", bytes(TOP), b"cgroup2", *options))


def libc():
    return ctypes.CDLL(None, use_errno=True)


def call(rc):
    if rc:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def in_a_namespace():
    """What a container is: a cgroup namespace that is a boundary of
    delegation, and a mount of its own."""
    MS_REMOUNT, MS_REC, MS_PRIVATE = 32, 16384, 1 << 18
    mount((MS_REMOUNT, b"nsdelegate"))
    at = delegated("container")
    enter(at)
    call(libc().unshare(CLONE_NEWNS | CLONE_NEWCGROUP))
    enter(at / "host")
    call(libc().mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    call(libc().umount2(bytes(TOP), 2))
    mount((0, None))


def beside_scopes_in_a_namespace():
    in_a_namespace()
    (TOP / "cgroup.subtree_control").write_text(CONTROLLERS)
    beside_scopes()


STAGES = [  # name, where, as whom, which tests
    ("root", at_root, 0, EVERYTHING + ["checks"]),
    ("root-shared", in_a_group_with_others, 0, ["refusals"]),
    ("user-shared", in_a_group_with_others, USER, ["refusals"]),
    ("root-scope", beside_scopes, 0, ["checks"]),
    ("user-scope", beside_scopes_of_a_user, 0, ["checks"]),
    ("user", in_what_is_delegated, USER,
     HARDLY_LESS + ["checks"]),
    ("user-ns", in_a_namespace, USER,
     GROUPS + ["unit_jail_native", "checks"]),
    ("root-ns", beside_scopes_in_a_namespace, 0, ["checks"]),
    ("user-marked", in_what_systemd_marked, USER,
     GROUPS + ["checks"]),
]


# ---- the tests of one stage

def chosen(names):
    tests = [t for t in run.discover(BUILD)
             if any(t.name.startswith(n) for n in names)
             and os.access(t.argv[-1], os.R_OK) and t.user is None
             and "slow" not in t.name]
    for name in ("checks", "refusals", "attack"):
        if name in names:
            file = HERE / f"{name}.py"
            tests.append(run.Test(name, "v2", [sys.executable, file], file))
    return tests


def inside(names, words):
    report = []
    for test in chosen(names):
        if words and not any(w in test.name for w in words):
            continue
        r = run.judge(test, BUILD)
        run.show(r)
        run.show_failures([r])
        report.append(r)
    n = [sum(x[1] == s for r in report for x in r["results"])
         for s in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*n), flush=True)


def left():
    """Groups of ours; a leaf that processes were moved to stays until the
    next maker comes."""
    return [str(p) for p in TOP.rglob("redoma-*") if p.is_dir()
            and not p.name.startswith("redoma-self-")]


def clear(at):
    for base, _, _ in os.walk(at, topdown=False):
        try:
            os.rmdir(base)
        except OSError:
            pass


def stage(row, words):
    name, where, user, names = row
    print(f"\nv2: ==== {name}", flush=True)
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        where()
        if user:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        os.environ["HOME"] = f"/home/{user}"
        os.execv(sys.executable, [sys.executable, __file__, "--inside",
                                  *names, "--", *words])
    os.waitpid(pid, 0)
    if found := left():
        print(f"not ok - groups were left: {found}")
    print(f"v2: {time.monotonic() - began:.0f} s", flush=True)
    for at in TOP.iterdir():
        if at.is_dir():
            clear(at)


def raise_loopback():
    SIOCSIFFLAGS, IFF_UP = 0x8914, 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def make_image():
    """The machine code in the build is for the processor that it was made on,
    which is not the one that is emulated."""
    began = time.monotonic()
    images = BUILD / "images"
    subprocess.run([BUILD / "redoma-compile", "--image", images / "js.wasm",
                    images / "js.cwasm"], check=True)
    print(f"v2: {time.monotonic() - began:.0f} s to compile an image",
          flush=True)


def main():
    if sys.argv[1:2] == ["--inside"]:
        at = sys.argv.index("--")
        inside(sys.argv[2:at], sys.argv[at + 1:])
        return
    names = [a[8:] for a in sys.argv[1:] if a.startswith("--stage=")]
    words = [a for a in sys.argv[1:] if not a.startswith("--stage=")]
    rows = [s for s in STAGES if not names or s[0] in names]
    print(f"v2: {len(rows)} stages", flush=True)
    for user in (0, USER):
        pathlib.Path(f"/home/{user}").mkdir()
        os.chown(f"/home/{user}", user, user)
    (TOP / "cgroup.subtree_control").write_text(CONTROLLERS)
    raise_loopback()
    make_image()
    for row in rows:
        stage(row, words)


if __name__ == "__main__":
    main()

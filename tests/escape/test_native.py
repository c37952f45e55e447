#!/usr/bin/env python3
"""test-seconds: 240
Attacks by a native program, through the command.  Where it can be had, each has
its control: the same call outside of a jail succeeds, on what the test made."""
import ctypes
import json as json_module
import pathlib
import re
import resource
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_native import *
import lib_native

spare_group()

ATTACK = (ROOT / "tests/guests/native/attack.c").read_text()
REFUSED = {"EPERM", "EACCES", "ENOSYS", "ENOENT", "EROFS", "ESRCH", "ENODEV",
           "ENOTDIR", "EBADF", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ENOTTY",
           "EXDEV", "ENXIO", "ETXTBSY"}


def attack(name, *args, options=(), **kw):
    """{what was tried: "ok" or the name of its error}, in a jail."""
    r = native(program("attack", ATTACK, "-static"), name, *args,
               options=options, **kw)
    need(r.status in ("ok", "error") and "signal" not in r.json, r.about())
    found = dict(line.split("\t") for line in r.json["stdout"].splitlines())
    need(found, r.about())
    return found


def outside(name, *args, **kw):
    p = subprocess.run([program("attack", ATTACK, "-static"), name, *args],
                       capture_output=True, timeout=20, **kw)
    return dict(line.split("\t") for line in p.stdout.decode().splitlines())


def all_refused(found, but=()):
    bad = {k: v for k, v in found.items() if v not in REFUSED and k not in but}
    need(not bad, f"not refused: {bad}")


def stat_of(path):
    s = os.lstat(path)
    return (s.st_mode, s.st_uid, s.st_gid, s.st_nlink, s.st_size,
            s.st_mtime_ns, s.st_ctime_ns)


# ---- files

@case("row 1: the program's own file cannot be written, by any of its names")
def _():
    path = program("attack", ATTACK, "-static")
    before = hashlib.sha256(pathlib.Path(path).read_bytes()).digest()
    all_refused(attack("own_exe"))
    need(hashlib.sha256(pathlib.Path(path).read_bytes()).digest() == before,
         "it was changed")
    r = sh("printf '#!/proc/self/exe\\n' > /tmp/x; chmod 700 /tmp/x; /tmp/x")
    expect(r, "error", says="denied")
    init = BUILD / "redoma-init"
    need(b"redoma" in init.read_bytes(), "init was changed")


@case("row 2: what our caller leaked is not there, and the cwd is inside")
def _():
    d = write("leak/secret.txt", SECRET).parent
    fds = [os.open(d, os.O_RDONLY) for _ in range(40)]
    fds += [os.open(d / "secret.txt", os.O_RDWR) for _ in range(10)]
    for fd in fds:
        os.set_inheritable(fd, True)
    argv = [REDOMA, "run", "--native", *lib_native.MORE, "--",
            program("attack", ATTACK, "-static"), "fds"]
    try:
        p = subprocess.run(argv, capture_output=True, timeout=20,
                           pass_fds=fds)
        seen = outside("fds", pass_fds=fds)
    finally:
        for fd in fds:
            os.close(fd)
    need(seen["count"] == "53", f"the control: {seen}")
    need(p.stdout == b"count\t3\ncwd\t/\nclimb\tENOTDIR\n"
         or p.stdout.startswith(b"count\t3\ncwd\t/\n"), p)
    need(SECRET.encode() not in p.stdout, "the secret")


MODES = """
import json, os, stat, sys
mine = ('/tmp', '/proc')
hit = []
def attempt(what, path, f, *a, **k):
    try:
        f(*a, **k)
        hit.append([what, path])
    except (OSError, ValueError):
        pass
count = 0
def one(path):
    global count
    count += 1
    st = os.lstat(path)
    mode = stat.S_IMODE(st.st_mode)
    # What is there already: done, it would still change the inode's time.
    if not stat.S_ISLNK(st.st_mode):
        attempt('chmod', path, os.chmod, path, mode)
        attempt('xattr', path, os.setxattr, path, 'user.redoma', b'x')
        attempt('access', path, os.truncate, path, st.st_size)
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_PATH):
            try:
                fd = os.open(path, flags | os.O_NONBLOCK)
            except OSError:
                continue
            attempt('fchmod', path, os.fchmod, fd, mode)
            attempt('fchown', path, os.fchown, fd, st.st_uid, st.st_gid)
            attempt('futime', path, os.utime, fd)
            attempt('proc', path, os.chmod, '/proc/self/fd/%d' % fd, mode)
            attempt('fxattr', path, os.setxattr, fd, 'user.redoma', b'x')
            if flags in (1, 2) and stat.S_ISREG(st.st_mode):
                hit.append(['open', path])
            os.close(fd)
    attempt('chown', path, os.chown, path, st.st_uid, st.st_gid,
            follow_symlinks=False)
    attempt('chown-1', path, os.chown, path, -1, -1, follow_symlinks=False)
    attempt('utime', path, os.utime, path, follow_symlinks=False)
    attempt('link', path, os.link, path, '/tmp/l', follow_symlinks=False)
    attempt('rename', path, os.rename, path, path + '.x')
    attempt('unlink', path, os.unlink, path)
    attempt('rmdir', path, os.rmdir, path)
    if stat.S_ISDIR(st.st_mode):
        attempt('create', path, open, path + '/redoma-new', 'x')
        attempt('mkdir', path, os.mkdir, path + '/redoma-new')
        attempt('symlink', path, os.symlink, 'x', path + '/redoma-new')
        attempt('mknod', path, os.mknod, path + '/redoma-new')
    elif not stat.S_ISLNK(st.st_mode):
        attempt('replace', path, os.rename, '/tmp/mine', path)
open('/tmp/mine', 'w').close()
one('/')
for top, dirs, files in os.walk('/'):
    dirs[:] = [d for d in dirs if os.path.join(top, d) not in mine][:60]
    for name in dirs + files[:40]:
        one(os.path.join(top, name))
print(json.dumps({'count': count, 'hit': hit[:20]}))
"""


@case("no inode of the root changes: modes, owners, times, attributes, names")
def _():
    d = scratch() / "shown"
    for name in ("a.txt", "sub/b.txt"):
        path = write(f"shown/{name}", "text")
        path.chmod(0o666)
    data = write("one.txt", "text")
    devices = [f"/dev/{n}" for n in ("null", "zero", "full", "urandom")]
    kept = [sys.executable, *devices, "/usr", "/etc/passwd", data, d,
            d / "a.txt", d / "sub", d / "sub/b.txt"]
    before = [stat_of(p) for p in kept]
    r = native("python3", "-c", MODES, options=(
        "--read", f"{data}=/g/one.txt", "--read", f"{d}/=/g/d/", "--limit",
        "wall=20s"))
    expect(r, "ok")
    seen = json_module.loads(r.json["stdout"])
    need(seen["count"] > 150, seen)
    need(not seen["hit"], seen)
    for path, was in zip(kept, before):
        now = stat_of(path)
        if path in devices:  # whoever writes to them changes a time
            was, now = was[:5], now[:5]
        need(was == now, f"{path}: {was} became {now}")
    control = MODES.replace("'/tmp/", f"'{scratch()}/").replace(
        "one('/')", "").replace("os.walk('/')", f"os.walk({str(d)!r})")
    p = subprocess.run([sys.executable, "-c", control], capture_output=True,
                       timeout=20)
    need(b"chmod" in p.stdout and b"utime" in p.stdout, f"the control: {p}")


class Swapping:
    """Names, exchanged with links that lead outside, as fast as it goes."""

    def __init__(self, *names):
        self.pairs = [(os.fsencode(n), os.fsencode(f"{n}-away"))
                      for n in names]
        self.over = threading.Event()
        self.times = 0
        self.thread = threading.Thread(target=self.swap)

    def swap(self):
        libc = ctypes.CDLL(None, use_errno=True)
        at_cwd, exchange = -100, 2
        while not self.over.is_set():
            for name, away in self.pairs:
                if libc.renameat2(at_cwd, name, at_cwd, away, exchange):
                    return  # self.times tells
                self.times += 1

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        need(self.times > 1000, f"swapped {self.times} times")


PRINTS = r"""
#include <stdio.h>
int main(int n, char **names)
{
	char text[4096];
	for (int i = 1; i < n; i++) {
		FILE *f = fopen(names[i], "r");
		size_t len = f ? fread(text, 1, sizeof text, f) : 0;
		fwrite(text, 1, len, stdout);
	}
}
"""


def swapped_world():
    """Things of our own, and beside each a link to something outside."""
    d = fresh_dir("swapped")
    shutil.rmtree(d, ignore_errors=True)
    (d / "root/bin").mkdir(parents=True)
    shutil.copy(program("prints", PRINTS, "-static"), d / "root/bin/prints")
    for name in ("root/usr", "given", "results"):
        (d / name).mkdir()
        (d / name / "f").write_text("mine")
    for name in ("root/file", "one"):
        (d / name).write_text("mine")
    (d / "outside").mkdir()
    (d / "outside/f").write_text("SECRET")
    for name, to in (("root/usr", "outside"), ("root/file", "outside/f"),
                     ("given", "outside"), ("one", "outside/f"),
                     ("results", "outside")):
        (d / f"{name}-away").symlink_to(d / to)
    return d


def until_both(run, most=150):
    """Runs until one went well and one was refused: the swaps were met."""
    seen = set()
    for _ in range(most):
        r = run()
        need("SECRET" not in r.text, f"read outside: {r.about()}")
        seen.add("mine" if "mine" in r.json.get("stdout", "") else r.status)
        if {"mine", "refused"} <= seen:
            return
    raise Failed(f"never met a swap: {seen}")


@case("row 3, C205: directories and links of the root swapped while it is made")
def _():
    d = swapped_world()
    with Swapping(d / "root/usr", d / "root/file"):
        until_both(lambda: native("/bin/prints", "/usr/f", "/file", options=(
            "--jail", f"root={d}/root")))
    with Swapping(d / "root/usr", d / "root/file"):
        for _ in range(30):
            r = native("/bin/prints", "/usr/f", "/file", options=(
                "--jail", f"root={d}/root"))
            need("SECRET" not in r.text, f"read outside: {r.about()}")


@case("row 3: granted directories and files swapped while jails are set up")
def _():
    d = swapped_world()
    for grant, guest in ((f"{d}/given/=/d/", "/d/f"), (f"{d}/one=/o", "/o")):
        name = grant.split("=")[0].rstrip("/")
        with Swapping(name):
            until_both(lambda: sh(f"cat {guest}", "--read", grant))
            for _ in range(15):
                r = sh(f"cat {guest}", "--read", grant)
                need("SECRET" not in r.text, f"read outside: {r.about()}")


@case("row 3: the place of a result swapped while jails are set up and end")
def _():
    d = swapped_world()
    with Swapping(d / "results"):
        published = 0
        for _ in range(30):
            r = sh("echo new > /w", "--write", f"{d}/results/f=/w:1KiB")
            published += r.status == "ok"
            need((d / "outside/f").read_text() == "SECRET"
                 and len(list((d / "outside").iterdir())) == 1,
                 f"written outside: {r.about()}")
    real = [p for p in (d / "results", d / "results-away")
            if not p.is_symlink()]
    need(published and (real[0] / "f").read_text() == "new\n",
         f"{published} published")


@case("row 8: the kernel's and other processes' files")
def _():
    all_refused(attack("kernel_files"))


@case("row 19: a set-user-id program of the root gives nothing")
def _():
    if os.geteuid():
        raise Skipped("needs root to make a program of root's")
    d = scratch() / "suid-root"
    (d / "bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(program("attack", ATTACK, "-static"), d / "bin/attack")
    (d / "bin/attack").chmod(0o6755)
    r = native("/bin/attack", "ids", options=("--jail", f"root={d}"))
    expect(r, "ok", stdout="uid\t1000\neuid\t1000\ngid\t1000\negid\t1000\n"
           "suid\t1000\n")
    p = subprocess.run([d / "bin/attack", "ids"], capture_output=True,
                       user=65534, group=65534, extra_groups=[])
    need(b"euid\t0\n" in p.stdout, f"the control: {p}")


@case("row 19: a program of the root that has capabilities has none")
def _():
    import struct
    if os.geteuid():
        raise Skipped("needs root to give a program capabilities")
    d = scratch() / "caps-root"
    (d / "bin").mkdir(parents=True, exist_ok=True)
    path = d / "bin/caps"
    shutil.copy(program("caps", CAPS, "-static"), path)
    path.chmod(0o755)
    net_raw = 1 << 13
    # VFS_CAP_REVISION_2, effective: what setcap cap_net_raw+ep writes.
    os.setxattr(path, "security.capability",
                struct.pack("<5I", 0x02000001, net_raw, 0, 0, 0))
    p = subprocess.run([path], capture_output=True, user=65534, group=65534,
                       extra_groups=[])
    need(p.stdout.decode().split() == [f"{net_raw:016x}"] * 2,
         f"the control: {p}")
    r = native("/bin/caps", options=("--jail", f"root={d}"))
    need(r.status in ("ok", "error")
         and r.json["stdout"].split() in ([], ["0" * 16] * 2), r.about())
    need(r.json["stdout"], r.about())


CAPS = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
	char line[200];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "CapPrm:", 7) || !strncmp(line, "CapEff:", 7))
			fputs(line + 7, stdout);
	return 0;
}
"""


@case("row 20: what it wrote cannot be started or mapped, by any way")
def _():
    out = fresh_dir("made")
    found = attack("run_written", options=("--write", f"{out}/=/o/:8MiB"))
    all_refused(found)
    need(outside("run_written", str(scratch()))["exec"] == "ok",
         "the control")
    r = sh("cp /bin/true /tmp/t; chmod 700 /tmp/t; /tmp/t; echo $?; "
           "/lib64/ld-linux-x86-64.so.2 /tmp/t; echo $?; "
           "printf '#!/bin/sh\\n' > /tmp/s; chmod 700 /tmp/s; /tmp/s; echo $?;"
           "/proc/self/root/tmp/t; echo $?")
    codes = [n for n in r.json["stdout"].split() if n.isdigit()]
    need(len(codes) == 4 and "0" not in codes, r.about())


@case("row 22: descriptors that are sent, and .. of a granted directory")
def _():
    d = write("grant/sub/x.txt", "x").parent.parent
    write("beside.txt", SECRET)
    found = attack("climb", "/d", options=("--read", f"{d}/=/d/"))
    all_refused(found, but=("root",))
    need(found["root"] == "same", f"{found}")


# ---- the kernel

@case("row 5: sockets of other kinds; other architectures end the run")
def _():
    need(attack("families")["made"] == "none", "a socket was made")
    made = outside("families")["made"]
    need("1/1" in made and "2/1" in made, f"the control: {made}")
    for name in ("int80", "x32"):
        r = native(program("attack", ATTACK, "-static"), name)
        expect(r, "breach", within=3)
        need(r.json["signal"] == "SIGSYS" and r.code == 9, r.about())
        expect(sh("true"), "ok")


@case("rows 6, 7, 9, 11, 23: rings, namespaces, mounts, tracing, keys, locks")
def _():
    for name in ("rings", "spaces", "mounts", "trace", "keys", "odd"):
        all_refused(attack(name))
    if os.getuid() != 1000:  # by which it knows that it is inside
        need(outside("odd")["memfd"] == "ok", "the control")


@case("row 25: every call by its number: what gets past is what the table has")
def _():
    if not lib_native.COMPILER:
        raise Skipped("no C compiler that tells the numbers")
    table = (ROOT / "src/jail/seccomp_table.h").read_text()
    allowed = set(re.findall(r"\{CALL\((\w+)\),\s*([^{]*?),?\s*\{", table))
    allowed = {n for n, flags in allowed if re.search(r"\bN\b", flags)}
    need(len(allowed) > 100 and "openat" in allowed, f"{sorted(allowed)}")
    numbers = {}
    for line in subprocess.run(
            [COMPILER, "-E", "-dM", "-include", "sys/syscall.h", "-x", "c",
             "/dev/null"], capture_output=True, text=True).stdout.split("\n"):
        m = re.match(r"#define __NR_(\w+) (\d+)$", line)
        if m:
            numbers[int(m[2])] = m[1]
    found = attack("sweep", options=("--limit", "wall=30s"), timeout=40)
    past = {numbers.get(int(n), n) for n in found if n.isdigit()}
    # The kernel takes these two past every filter.
    need(past - allowed <= {"uretprobe", "uprobe", "335", "336"},
         f"past the filter: {sorted(past - allowed)}")
    need(len(past) > 60, f"only {sorted(past)}")


# ---- other processes

@case("row 14: signals reach nobody outside")
def _():
    victim = subprocess.Popen(["sleep", "60"])
    try:
        all_refused(attack("signals", str(victim.pid), str(os.getpid()),
                           may_leave=True))
        r = native(program("attack", ATTACK, "-static"), "kill_all",
                   may_leave=True)
        need(r.status in ("ok", "error"), r.about())
        need(victim.poll() is None, "the victim was ended")
    finally:
        victim.kill()
        victim.wait()


@case("row 14: its own init cannot be ended, nor made to lie")
def _():
    r = sh("kill -9 1; kill -TERM 1; kill -STOP 1; echo alive; exit 3")
    expect(r, "error", stdout="alive\n")
    need(r.json["exit_code"] == 3, r.about())


@case("rows 10, C225: no socket of the host is reached, by any address")
def _():
    name = f"redoma-test-{os.getpid()}"
    d = scratch() / "socks"
    d.mkdir(exist_ok=True)
    heard = []
    stream, tcp, udp, path = (socket.socket(socket.AF_UNIX),
                              socket.socket(), socket.socket(
                                  socket.AF_INET, socket.SOCK_DGRAM),
                              socket.socket(socket.AF_UNIX))
    stream.bind("\0" + name)
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", 0))
    (d / "sock").unlink(missing_ok=True)
    path.bind(str(d / "sock"))
    (d / "sock").chmod(0o777)
    for s in (stream, tcp, path):
        s.listen()
    for s in (stream, tcp, path, udp):
        s.setblocking(False)
    args = (name, str(tcp.getsockname()[1]), str(udp.getsockname()[1]))
    try:
        all_refused(attack("connect", *args, "/d/sock", options=(
            "--read", f"{d}/=/d/")))
        for s in (stream, tcp, path, udp):
            try:
                s.accept() if s is not udp else s.recv(9)
                heard.append(s)
            except BlockingIOError:
                pass
        need(not heard, f"heard on {heard}")
        found = outside("connect", *args, str(d / "sock"))
        need(set(found.values()) == {"ok"}, f"the control: {found}")
    finally:
        for s in (stream, tcp, path, udp):
            s.close()
    for code in ("import socket; socket.create_connection(('1.1.1.1', 80), 2)",
                 "import socket; socket.getaddrinfo('example.com', 80)",
                 "import urllib.request as u; u.urlopen('http://1.1.1.1')"):
        expect(py(code), "error", within=4)


@case("row 12, C227: shared memory of the host is apart")
def _():
    libc = ctypes.CDLL(None, use_errno=True)
    key = 0x5ED0 + os.getpid()
    ids = [libc.shmget(key, 4096, 0o1666), libc.semget(key, 1, 0o1666),
           libc.msgget(key, 0o1666)]
    shm = pathlib.Path(f"/dev/shm/redoma-test-{os.getpid()}")
    try:
        shm.write_text(SECRET)
        all_refused(attack("ipc", str(key), shm.name))
        found = outside("ipc", str(key), shm.name)
        need(found["shm"] == found["posix"] == "ok", f"the control: {found}")
    finally:
        libc.shmctl(ids[0], 0, None)
        libc.semctl(ids[1], 0, 0)
        libc.msgctl(ids[2], 0, None)
        shm.unlink(missing_ok=True)


@case("row 12, C227: two jails at one time share no memory, file or name")
def _():
    # System V objects cannot be made at all; what can be is looked for by the
    # other while its maker still holds it.
    held = subprocess.Popen(
        [REDOMA, "run", "--native", *lib_native.MORE, "--", "python3", "-u",
         "-c", HOLD], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    try:
        made = json_module.loads(held.stdout.readline())
        need(made["tmp"] and made["other pid"], f"{made}")
        need(set(made["sysv"]) <= {"ENOSYS", "EPERM"}, f"{made}")
        seen = beside(SEEK)
        need(not seen["tmp"] and not seen["mine"] and seen["alone"]
             and seen["signalled"] in ("ESRCH", "EPERM"), f"{seen}")
        need(held.poll() is None, "the other one has ended")
        # The control: the same program finds what lies in its own jail.
        own = beside(f"open('/tmp/held', 'w').write('mine')\n{SEEK}")
        need(own["tmp"] == ["held"], f"{own}")
    finally:
        held.kill()
        held.communicate(timeout=10)
    need(not survivors(), "something is left")


def beside(code):
    """What a program prints while another runs, which is ours as well."""
    p = subprocess.run([REDOMA, "run", "--native", *lib_native.MORE, "--",
                        "python3", "-c", code], capture_output=True,
                       stdin=subprocess.DEVNULL, timeout=30)
    need(p.returncode == 0, f"{p}")
    return strict_json(p.stdout)


HOLD = """
import ctypes, errno, json, mmap, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def sysv():
    for make in (lambda: libc.shmget(0x5ED1, 4096, 0o1666),
                 lambda: libc.semget(0x5ED1, 1, 0o1666),
                 lambda: libc.msgget(0x5ED1, 0o1666)):
        yield 'ok' if make() >= 0 else errno.errorcode[ctypes.get_errno()]
open('/tmp/held', 'w').write('held by another')
m = mmap.mmap(-1, 4096)
m[:4] = b'held'
child = os.fork()
if child == 0:
    time.sleep(15)
    os._exit(0)
print(json.dumps({'tmp': os.listdir('/tmp'), 'other pid': child,
                  'sysv': list(sysv())}))
time.sleep(15)
"""
SEEK = """
import errno, json, os, pathlib
def text(p):
    try:
        return pathlib.Path(p).read_bytes()
    except OSError:
        return b''
pids = [p for p in os.listdir('/proc') if p.isdigit()]
mine = [f for p in pids for f in ('maps', 'cmdline')
        if b'held' in text(f'/proc/{p}/{f}')
        and p not in ('self', str(os.getpid()))]
try:
    for n in range(os.getpid() + 1, os.getpid() + 500):
        try:
            os.kill(n, 0)
            signalled = n
            break
        except OSError as e:
            signalled = errno.errorcode[e.errno]
except OSError:
    pass
print(json.dumps({'tmp': os.listdir('/tmp'), 'mine': mine,
                  'alone': len(pids) <= 2, 'signalled': signalled}))
"""


@case("row 4, C203: nothing is typed into the caller's terminal")
def _():
    import pty
    import select
    main_fd, child = pty.openpty()
    argv = [REDOMA, "run", "--native", *lib_native.MORE, "--json", "--",
            program("attack", ATTACK, "-static"), "terminal"]
    p = subprocess.Popen(argv, stdin=child, stdout=subprocess.PIPE,
                         stderr=child, start_new_session=True)
    try:
        out, _ = p.communicate(timeout=20)
        found = dict(line.split("\t") for line in
                     strict_json(out)["stdout"].splitlines())
        all_refused(found)
        typed = select.select([child], [], [], 0.1)[0]
        shown = select.select([main_fd], [], [], 0.1)[0]
        need(not typed and not shown, "something was typed")
    finally:
        os.close(child)
        os.close(main_fd)


@case("row 24: a crash leaves no core and starts nothing")
def _():
    r = sh("cat /proc/self/limits | grep core; ulimit -c unlimited; "
           "kill -SEGV $$")
    expect(r, "error")
    need(re.search(r"core file size +1 +1 ", r.json["stdout"]), r.about())
    need(not list(scratch().glob("core*")), "a core file")


@case("row 28: two runs share no random numbers, hash seeds or names")
def _():
    code = ("import os, random, uuid, tempfile, secrets\n"
            "[random.random(), str(uuid.uuid4()), os.urandom(8).hex(), "
            "hash('x'), tempfile.mktemp(), secrets.token_hex(8)]")
    a, b = py(code), py(code)
    for x, y in zip(a.json["value"], b.json["value"]):
        need(x != y, f"{x} twice: {a.about()}")
    code = ("[Math.random(), crypto.randomUUID(), "
            "require('crypto').randomBytes(8).toString('hex')]")
    a, b = nodejs(code), nodejs(code)
    for x, y in zip(a.json["value"], b.json["value"]):
        need(x != y, f"{x} twice: {a.about()}")


@case("row 29: no control group and no limit can be changed from inside")
def _():
    r = sh("ls /sys /proc/sys /proc/sysrq-trigger; echo 1 > "
           "/proc/self/oom_score_adj; echo -1000 > /proc/self/oom_score_adj; "
           "echo x > /proc/self/comm; echo 0 > /proc/self/uid_map; "
           "cat /proc/1/environ /proc/1/mem /proc/1/maps; exit 6")
    expect(r, "error", stdout="")
    need(r.json["exit_code"] == 6 and r.json["stderr"].count("\n") >= 9,
         r.about())
    found = attack("limits")
    all_refused(found)


@case("C239 C243 no privilege: ids, capabilities, a pty of its own, setuid")
def _():
    all_refused(attack("privilege"))


QUEUES = """
import array, os, socket, time
fds, kept, sent = [], [], 0
try:
    while len(fds) < 253:
        fds.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
most = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))]
one = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds[:1]))]
why = None
a, b = socket.socketpair()
a.setblocking(False)
for what in (one, most):  # the last above its own limit by all that one takes
    for _ in range(2000 if what is one else 1):
        try:
            a.sendmsg([b"x"], what)
            sent += len(what[0][2])
        except BlockingIOError:
            kept.append((a, b))
            a, b = socket.socketpair()
            a.setblocking(False)
        except OSError as e:
            why = e.errno
            break
        if what is one and sent + 20 > LIMIT:
            break
end = time.monotonic() + 3
while time.monotonic() < end:
    time.sleep(0.1)
sent
"""


@case("descriptors that a program queues leave its user's runs their own")
def _():
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))

    name = source(QUEUES.replace("LIMIT", "1024"), "queues.py")
    p = subprocess.Popen([REDOMA, "run", "--json", "--native", name,
                          *lib_native.MORE, "--limit", "files=2000",
                          "--limit", "wall=20s"], preexec_fn=few,
                         stdout=subprocess.PIPE)
    bad, runs = [], 0
    while p.poll() is None:
        q = subprocess.run([REDOMA, "eval", "js", "1+1"], preexec_fn=few,
                           capture_output=True, timeout=20)
        runs += 1
        if q.stdout != b"2\n":
            bad.append(q.stderr)
        time.sleep(0.1)
    said = json_module.loads(p.stdout.read())
    need(said["status"] == "ok" and said["value"] >= 400, f"{said}")
    need(runs > 3 and not bad, f"{len(bad)} of {runs} failed: {bad[:1]}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""test-seconds: 400
Native programs that take more than they were given: each ends as its limit, in
time, whole, and the next run is fine."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib_native import *

KILLED_IN = 1.0  # seconds that it may take over its limit


def groups_left():
    """Control groups of runs of ours: our command is their maker's parent, so
    none is left once it has ended."""
    return {n for n in traces() if n.startswith("/sys/fs/cgroup")}


def after(r):
    """The next run knows nothing of what happened, and nothing is left."""
    end = time.monotonic() + 3
    while left := tree_below(os.getpid()):
        reap()
        if time.monotonic() > end:
            raise Failed(f"left: {left}\n  {r.about()}")
        time.sleep(0.02)
    expect(sh("ls -A /tmp; echo fine"), "ok", stdout="fine\n")


def limit(r, *statuses, limit_s):
    expect(r, *statuses, within=limit_s + KILLED_IN)
    after(r)
    return r


def wall(run, code, seconds=0.5, **kw):
    r = run(code, "--limit", f"wall={int(seconds * 1000)}ms", **kw)
    limit(r, "wall_limit", limit_s=seconds)
    need(r.json["limit"]["name"] == "wall"
         and r.json["usage"]["wall_us"] >= seconds * 1e6 * 0.99, r.about())
    return r


# ---- wall

WALL = [
    ("sleep", sh, "sleep 60"),
    ("busy loop", sh, "while :; do :; done"),
    ("C221 SIGTERM ignored", sh, "trap '' TERM INT HUP QUIT; sleep 60; "
     "while :; do sleep 60; done"),
    ("every signal ignored", py, "import signal, time\n"
     "for s in range(1, 65):\n"
     "    try: signal.signal(s, signal.SIG_IGN)\n"
     "    except (OSError, ValueError): pass\n"
     "while True: time.sleep(60)"),
    ("C241 stopped by itself", sh, "kill -STOP $$"),
    ("stopped, with children", sh, "sleep 60 & sleep 60 & kill -STOP 0"),
    ("pause", py, "import signal\nwhile True: signal.pause()"),
    ("a lock that is never free", py, "import threading\n"
     "l = threading.Lock(); l.acquire(); l.acquire()"),
    ("reading what nobody writes", sh, "sleep 60 | cat"),
    ("daemons", sh, "for i in 1 2 3 4; do "
     "(setsid sh -c 'trap \"\" TERM HUP; sleep 60' & ) & done; sleep 60"),
    ("a timer of node", nodejs, "setInterval(() => {}, 10)"),
    ("a loop of node", nodejs, "for (;;) ;"),
    ("a loop of python", py, "while True: pass"),
    ("catching everything", py, "while True:\n    try:\n"
     "        while True: pass\n    except BaseException: pass"),
    ("an await that never ends", nodejs, "await new Promise(() => "
     "setTimeout(() => {}, 1e6))"),
    ("one expression", py, "10 ** 10 ** 8"),
    ("a regular expression", py, "import re\n"
     "re.match('(a*)*$', 'a' * 60 + 'b')"),
    ("threads that spin on", py, "import threading\ndef f():\n"
     "    while True: pass\n"
     "for _ in range(3): threading.Thread(target=f).start()\n1"),
    ("exec again and again", sh, 'exec sh -c "$0" "$0"'),
]
for _name, _run, _code in WALL:
    @case(f"wall: {_name}")
    def _(run=_run, code=_code):
        if code.startswith("exec "):
            code = "x='exec sh -c \"$x\"'; export x; exec sh -c \"$x\""
        wall(run, code)


@case("C213 wall: a daemon does not hold the result up, and dies")
def _():
    r = sh("(setsid sh -c 'exec >/dev/null 2>&1 <&-; sleep 60' &) ; echo out",
           "--limit", "wall=9s")
    expect(r, "ok", stdout="out\n", within=3)
    after(r)
    r = native(program("daemon", DAEMON), options=("--limit", "wall=9s"))
    expect(r, "ok", stdout="out\n", within=3)
    after(r)


DAEMON = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (!fork()) {
		setsid();
		for (int s = 1; s < 65; s++)
			signal(s, SIG_IGN);
		for (int i = 0; i < 3; i++)
			if (fork() == 0)
				setsid();
		for (;;)
			pause();
	}
	usleep(50000);
	puts("out");
	return 0;
}
"""


@case("wall: with output held open by a child")
def _():
    r = sh("sleep 60 & echo out", "--limit", "wall=9s")
    expect(r, "ok", stdout="out\n", within=3)
    after(r)


@case("what a program used is told, though it had to be killed")
def _():
    code = "while :; do :; done"
    r = sh(f"{code} & {code} & trap '' TERM; {code}", "--limit", "wall=600ms",
           "--limit", "cpu=30s")
    expect(r, "wall_limit")
    used = r.json["usage"]
    need(used["cpu_us"] > 5000 and used["page_faults"] > 0 and
         0 < used["memory_bytes"] < 64 << 20, r.about())
    after(r)


# ---- CPU

def cpu(run, code, ms, *options):
    r = run(code, "--limit", f"cpu={ms}ms", "--limit", "wall=8s", *options)
    expect(r, "cpu_limit", within=8)
    used = r.json["usage"]["cpu_us"] / 1000
    need(ms * 0.95 <= used <= (ms + 700) * SLOW, f"{used} ms: {r.about()}")
    need(r.json["limit"]["name"] == "cpu", r.about())
    after(r)
    return r


@case("cpu: one process that computes, in sh, python and node")
def _():
    cpu(sh, "while :; do :; done", 300)
    cpu(py, "while True: pass", 300)
    cpu(nodejs, "for (;;) ;", 300)


@case("cpu: SIGXCPU ignored")
def _():
    cpu(py, "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "while True: pass", 400)


@case("cpu: of many processes together, and of children that have ended")
def _():
    cpu(sh, "for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait", 500)
    cpu(sh, "while :; do sh -c 'i=0; while [ $i -lt 3000 ]; do "
        "i=$((i+1)); done'; done", 400)


@case("cpu: waiting costs nothing")
def _():
    r = sh("sleep 0.7", "--limit", "cpu=300ms", "--limit", "wall=9s")
    expect(r, "ok")


@case("C217 cpu: one run's is not the next one's")
def _():
    code = ("import time\nwhile time.process_time() < 0.35: pass\n'done'")
    for _ in range(2):
        r = py(code, "--limit", "cpu=900ms", "--limit", "wall=9s")
        expect(r, "ok", value="done")
        need(r.json["usage"]["cpu_us"] < 900_000, r.about())


# ---- memory

def memory(run, code, *options, mib=64, within=9):
    r = run(code, "--limit", f"memory={mib}MiB", "--limit", "wall=9s",
            *options)
    expect(r, "memory_limit", within=within)
    need(r.json["limit"]["name"] == "memory"
         and r.json["limit"]["value"] == f"{mib}MiB", r.about())
    need(r.json["usage"]["memory_bytes"] <= (mib + 8) * MIB, r.about())
    need(r.watch.tree_peak < (4 * mib + 256) * MIB,
         f"the host held {r.watch.tree_peak >> 20} MiB")
    after(r)
    return r


MEMORY = [
    ("C219 slowly", py, "a = []\nwhile True: a.append(bytearray(1 << 20))"),
    ("C219 in one jump", py, "a = bytearray(1 << 30)\n"
     "for i in range(0, 1 << 30, 4096): a[i] = 1"),
    ("node", nodejs, "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))"),
    ("/tmp", sh, "head -c 200000000 /dev/zero > /tmp/x; sleep 9"),
    ("many files in /tmp", sh, "i=0; while :; do i=$((i+1)); "
     "head -c 100000 /dev/zero > /tmp/$i; done"),
    ("many processes", sh, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "
     "(x=$(head -c 9000000 /dev/zero | tr '\\0' x); sleep 9) & done; wait"),
]
for _name, _run, _code in MEMORY:
    @case(f"memory: {_name}")
    def _(run=_run, code=_code):
        memory(run, code, "--jail", "tmp=512MiB", "--jail", "pids=64")


EAT = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define MIB (1 << 20)
static char page[65536];
static int eat_malloc(void)
{
	for (;;) {
		char *p = malloc(MIB);
		if (!p)
			return 1;
		memset(p, 1, MIB);
	}
}
static int eat_shared(void)
{
	for (;;) {
		char *p = mmap(0, MIB, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 1;
		memset(p, 1, MIB);
	}
}
static int eat_memfd(void)
{
	int fd = syscall(SYS_memfd_create, "x", 0);
	while (fd >= 0 && write(fd, page, sizeof page) > 0)
		;
	return 1;
}
static int eat_sysv(void)
{
	int id = shmget(IPC_PRIVATE, 256 * MIB, IPC_CREAT | 0600);
	char *p = id < 0 ? (void *)-1 : shmat(id, 0, 0);
	if (p == (void *)-1)
		return 1;
	memset(p, 1, 256 * MIB);
	return 0;
}
static int eat_pipes(void)
{
	for (;;) {
		int p[2];
		if (pipe(p))
			return 1;
		fcntl(p[1], F_SETPIPE_SZ, MIB);
		fcntl(p[1], F_SETFL, O_NONBLOCK);
		while (write(p[1], page, sizeof page) > 0)
			;
	}
}
static int eat_sockets(void)
{
	for (;;) {
		int p[2], big = 64 * MIB;
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, p))
			return 1;
		setsockopt(p[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
		fcntl(p[0], F_SETFL, O_NONBLOCK);
		while (write(p[0], page, 4096) > 0)
			;
	}
}
static int eat_tables(void)
{
	size_t all = 1ul << 42;
	char *p = mmap(0, all, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	if (p == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < all; i += 1ul << 21)
		(void)*(volatile char *)(p + i);
	return 0;
}
static int eat_locked(void)
{
	char *p = mmap(0, 256 * MIB, 3, MAP_PRIVATE | MAP_ANONYMOUS |
		       MAP_POPULATE | MAP_LOCKED, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	memset(p, 1, 256 * MIB);
	return 0;
}
static int eat_files(void)
{
	int fd = open("/tmp/x", O_CREAT | O_RDWR, 0600);
	unlink("/tmp/x");
	while (write(fd, page, sizeof page) > 0)
		;
	return 1;
}
static void *thread(void *x)
{
	char *p = malloc(16 * MIB);
	memset(p, 1, 16 * MIB);
	pause();
	return x;
}
static int eat_threads(void)
{
	pthread_t t;
	for (int i = 0; i < 12; i++)
		if (pthread_create(&t, 0, thread, 0))
			return 1;
	pause();
	return 0;
}
static int eat_child(void)
{
	int n = 0, status;
	if (fork() == 0)
		_exit(eat_malloc());
	wait(&status);
	/* The leader lives on, as if nothing had been. */
	for (;;)
		pause();
}
static int eat_forks(void)
{
	for (int i = 0; i < 12; i++)
		if (fork() == 0) {
			char *p = malloc(9 * MIB);
			memset(p, 1, 9 * MIB);
			pause();
		}
	pause();
	return 0;
}
int main(int n, char **arg)
{
	static const struct { const char *name; int (*f)(void); } all[] = {
		{"malloc", eat_malloc}, {"shared", eat_shared},
		{"memfd", eat_memfd}, {"sysv", eat_sysv}, {"pipes", eat_pipes},
		{"sockets", eat_sockets}, {"tables", eat_tables},
		{"locked", eat_locked}, {"files", eat_files},
		{"threads", eat_threads}, {"child", eat_child},
		{"forks", eat_forks}};
	for (int i = 0; i < (int)(sizeof all / sizeof *all); i++)
		if (!strcmp(arg[1], all[i].name)) {
			int bad = all[i].f();
			printf("refused: %s\n", strerror(errno));
			return bad;
		}
	return 99;
}
"""
# What the filter, or a count of descriptors, refuses before memory ends.
REFUSED = ("memfd", "sysv", "pipes", "sockets", "locked")
for _kind in ("malloc", "shared", "memfd", "sysv", "pipes", "sockets",
              "tables", "locked", "files", "threads", "child", "forks"):
    @case(f"memory: C, {_kind}")
    def _(kind=_kind):
        r = native(program("eat", EAT, "-O0", "-pthread"), kind, options=(
            "--limit", "memory=64MiB", "--limit", "wall=9s", "--jail",
            "tmp=512MiB"))
        ends = ["memory_limit"] + ["error"] * (kind in REFUSED)
        expect(r, *ends, within=9)
        if r.status == "error":
            need("refused: " in r.json["stdout"], r.about())
        need(r.json["usage"]["memory_bytes"] <= 72 * MIB, r.about())
        need(r.watch.tree_peak < 512 * MIB,
             f"the host held {r.watch.tree_peak >> 20} MiB")
        after(r)


@case("memory: just under the limit is fine")
def _():
    expect(py("a = bytearray(40 << 20)\nlen(a)", "--limit", "memory=96MiB"),
           "ok", value=40 << 20)


@case("memory: a file that is read does not count as a crime")
def _():
    path = write("in/large.bin", os.urandom(1 << 20) * 90)
    r = sh("cat /x > /dev/null; wc -c < /x", "--read", f"{path}=/x",
           "--limit", "memory=48MiB", "--limit", "wall=9s")
    expect(r, "ok", stdout=f"{90 << 20}\n")


# ---- processes

BOMBS = [
    ("sh", sh, "f() { f | f & }; f & while :; do :; done"),
    ("setsid, double fork, stop", None, ""),
    ("python", py, "import os\nwhile True:\n    try: os.fork()\n"
     "    except OSError: pass"),
    ("node", nodejs, "const { spawn } = require('child_process');"
     "for (let i = 0; i < 200; i++) spawn(process.execPath, ['-e', "
     "'setInterval(() => {}, 9)']).on('error', () => {});"
     "setInterval(() => {}, 9)"),
]
BOMB = r"""
#include <signal.h>
#include <unistd.h>
int main(void)
{
	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	for (int i = 0;; i++) {
		int pid = i & 1 ? vfork() : fork();
		if (pid == 0) {
			if (i & 1)
				_exit(0);
			setsid();
			if (fork() == 0 && (i & 6) == 0)
				kill(getpid(), SIGSTOP);
		}
	}
}
"""
for _name, _run, _code in BOMBS:
    @case(f"C223 processes: a bomb of {_name} is dead in a second")
    def _(run=_run, code=_code):
        options = ("--limit", "wall=500ms", "--limit", "memory=512MiB",
                   "--jail", "pids=64")
        r = run(code, *options) if run else native(program("bomb", BOMB),
                                                   options=options)
        # On several CPUs it may use up its CPU time, as much as wall, first.
        limit(r, "wall_limit", "cpu_limit", limit_s=0.5)


@case("processes: the limit is the limit, of threads too")
def _():
    count = ("import os, time\nn = 0\n"
             "try:\n    while n < 200:\n"
             "        if not os.fork(): time.sleep(9); os._exit(0)\n"
             "        n += 1\nexcept OSError as e: pass\nn")
    r = py(count, "--jail", "pids=20")
    expect(r, "ok")
    need(10 <= r.json["value"] <= 19, r.about())
    count = ("import threading, time\nn = 0\n"
             "try:\n    while n < 200:\n"
             "        threading.Thread(target=time.sleep, args=(9,), "
             "daemon=True).start()\n        n += 1\n"
             "except RuntimeError as e: pass\nn")
    r = py(count, "--jail", "pids=20")
    expect(r, "ok")
    need(10 <= r.json["value"] <= 19, r.about())
    after(r)


@case("processes: a bomb does not touch another run meanwhile")
def _():
    calm = []
    for _ in range(3):
        calm.append(expect(py("1 + 1"), "ok", value=2).seconds)
    bomb = subprocess.Popen(
        [REDOMA, "run", "--native", "--limit", "wall=3s", "--limit",
         "memory=256MiB", "--jail", "pids=48", "--",
         program("bomb", BOMB)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.3)
        for _ in range(3):
            r = run_json("run", "--native", source("1 + 1", "agent.py"),
                         may_leave=True)
            expect(r, "ok", value=2, within=10 * max(calm) + 2)
    finally:
        code = bomb.wait(10)
    need(code == 3, f"the bomb's exit code is {code}")


@case("processes: zombies of every kind are buried")
def _():
    r = native(program("orphans", ORPHANS), options=("--jail", "pids=32"))
    expect(r, "ok", within=8)
    after(r)


ORPHANS = r"""
#include <unistd.h>
#include <sys/wait.h>
int main(void)
{
	/* More in all than there may be at once: each must be buried. */
	for (int i = 0; i < 300; i++) {
		int pid = fork();
		if (pid == 0) {
			fork();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, 0, 0);
		else
			usleep(2000), i--;
	}
	return 0;
}
"""


# ---- output

def node_command(code, *options):
    return native("node", "-e", code, options=options)


FLOODS = [
    ("stdout", sh, "yes"), ("stderr", sh, "yes >&2"),
    ("both at once", sh, "yes & yes >&2"),
    ("from many processes", sh, "for i in 1 2 3 4 5 6; do yes & done; wait"),
    ("python", py, "while True: print('x' * 1000)"),
    ("node", nodejs, "for (;;) console.log('x'.repeat(1000))"),
    ("node as a command", node_command,
     "for (;;) console.log('x'.repeat(1000))"),
    ("without a newline", sh, "cat /dev/zero"),
    ("single bytes", py, "import os\nwhile True: os.write(1, b'x')"),
    ("a flood that ignores the closed pipe", sh,
     "trap '' PIPE; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; "
     "done"),
]
for _name, _run, _code in FLOODS:
    @case(f"C159 output: {_name}")
    def _(run=_run, code=_code):
        r = run(code, "--limit", "output=64KiB", "--limit", "wall=8s")
        limit(r, "output_limit", limit_s=7)
        kept = len(r.json.get("stdout", "")) + len(r.json.get("stderr", ""))
        need(r.json.get("truncated") is True and 16 << 10 <= kept <= 64 << 10,
             f"kept {kept}")
        need(r.watch.own_peak < 48 * MIB, f"{r.watch.own_peak >> 20} MiB")


# ---- disk

DISK = [
    ("one file", "head -c 9000000 /dev/zero > /tmp/x", "size limit"),
    ("full", "cd /tmp; for i in 1 2 3; do head -c 2000000 /dev/zero > $i; "
     "done", "No space left"),
    ("full of files without a name", "cd /tmp; exec 7> a 8> b 9> c; rm *; "
     "for i in 7 8 9; do head -c 2000000 /dev/zero >&$i; done",
     "No space left"),
    ("inodes", "cd /tmp; i=0; while : > $i; do i=$((i+1)); done", ""),
    ("long names", "cd /tmp; n=$(printf 'n%.0s' $(seq 240)); i=0; "
     "while : > $n$i; do i=$((i+1)); done", ""),
    ("deep directories", "cd /tmp; i=0; while mkdir d && cd d; do "
     "i=$((i+1)); done", ""),
    ("links", "cd /tmp; n=$(printf 'n%.0s' $(seq 2000)); i=0; "
     "while ln -s $n $i; do i=$((i+1)); done", ""),
    ("a sparse file", "truncate -s 1T /tmp/x || "
     "dd if=/dev/zero of=/tmp/x bs=1 seek=1T count=1", ""),
    ("a write grant", "yes > /o", "No space left"),
    ("the root", "echo x > /x || echo x > /usr/x || echo x > /etc/x || "
     "echo x > /dev/x || mkdir /dev/shm || echo x > /proc/x", "Read-only"),
]
for _name, _code, _says in DISK:
    @case(f"disk: {_name}")
    def _(code=_code, says=_says):
        out = fresh("disk-out")
        before = os.statvfs(scratch())
        r = sh(f"{code}\nexit 5", "--jail", "tmp=4MiB", "--write",
               f"{out}=/o:8KiB", "--limit", "wall=6s", "--limit",
               "memory=96MiB", "--limit", "output=64KiB")
        expect(r, "error", "wall_limit", within=7)
        need(r.status == "wall_limit" or says in r.text, r.about())
        need(not out.exists(), "published")
        used = before.f_bavail - os.statvfs(scratch()).f_bavail
        need(used * before.f_frsize < 512 * MIB, "the host's disk was used")
        after(r)


@case("disk: a storm of fsync holds nobody else up")
def _():
    # It may sync what it has, which is memory; the host's disks it may not.
    storm = subprocess.Popen(
        [REDOMA, "run", "--native", "--limit", "wall=6s", "--limit", "cpu=20s",
         "--jail", "tmp=16MiB", "--json", "--", "python3", "-c", FSYNC],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    slowest = 0.0
    try:
        time.sleep(0.5)
        end = time.monotonic() + 3
        n = 0
        while time.monotonic() < end:
            began = time.monotonic()
            fd = os.open(fresh("synced"), os.O_CREAT | os.O_WRONLY)
            os.write(fd, b"x" * 4096)
            os.fsync(fd)
            os.close(fd)
            slowest = max(slowest, time.monotonic() - began)
            n += 1
        need(storm.poll() is None, "the storm is over")
        need(n > 3 and slowest < 1.5 * SLOW, f"{n} syncs, {slowest:.2f} s")
    finally:
        out, _ = storm.communicate(timeout=30)
    r = strict_json(out)
    need(r["status"] == "wall_limit", f"{r}")
    need(r["stdout"].split()[0] == "ENOSYS", f"{r}")  # sync of all there is
    print(f"# {n} syncs beside it, the slowest {slowest * 1000:.0f} ms")
    need(not survivors(), "something is left")


FSYNC = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('/tmp/x', os.O_CREAT | os.O_WRONLY)
libc.syncfs(fd)
print(errno.errorcode.get(ctypes.get_errno(), 'ok'), flush=True)
while os.fork() and os.fork() and os.fork():
    break
while True:
    os.pwrite(fd, b'x' * 65536, 0)
    os.fsync(fd)
    os.fdatasync(fd)
    libc.sync()
"""


@case("disk: what was freed can be used again")
def _():
    expect(sh("for i in 1 2 3 4; do head -c 3000000 /dev/zero > /tmp/x && "
              "rm /tmp/x || exit 1; done", "--jail", "tmp=4MiB"), "ok")


@case("descriptors: as many as were granted, and no more")
def _():
    r = py("import os\na = []\ntry:\n    while len(a) < 5000: "
           "a.append(os.dup(0))\nexcept OSError as e: pass\nlen(a)",
           "--limit", "files=100")
    expect(r, "ok")
    need(60 < r.json["value"] < 120, r.about())


@case("limits that the program raises by itself stay as they are")
def _():
    r = py("import resource as r\nout = []\n"
           "for n in ('NOFILE', 'FSIZE', 'CPU', 'STACK', 'AS', 'NPROC'):\n"
           "    k = getattr(r, 'RLIMIT_' + n)\n"
           "    try:\n        soft, hard = r.getrlimit(k)\n"
           "        r.setrlimit(k, (-1, -1))\n"
           "        out.append((n, hard, r.getrlimit(k)[1]))\n"
           "    except (OSError, ValueError): pass\n"
           "[n for n, a, b in out if a != b]")
    expect(r, "ok", value=[])


# ---- the caller

@case("cancelled: SIGINT and SIGTERM end all of it, and say so")
def _():
    for sig in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([REDOMA, "run", "--native", "--json", "--", "sh",
                              "-c", "trap '' INT TERM; (setsid sleep 60 &); "
                              "echo on; sleep 60"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(0.6)
        p.send_signal(sig)
        out, err = p.communicate(timeout=5)
        need(p.returncode == 130, f"{p.returncode} {out} {err}")
        need(strict_json(out)["status"] == "cancelled", out)
        left = survivors()
        need(not left, f"left: {left}")


@case("killed: nothing of it survives the command")
def _():
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        p = subprocess.Popen([REDOMA, "run", "--native", "--", "sh", "-c",
                              "trap '' INT TERM; (setsid sleep 60 &); "
                              "sleep 60"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        time.sleep(wait)
        p.kill()
        p.communicate(timeout=5)
        left = survivors()
        need(not left, f"left after {wait}: {left}")
    after(expect(sh("true"), "ok"))


if __name__ == "__main__":
    main()

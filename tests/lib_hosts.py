"""Hosts that lack something, made around a command: by a seccomp filter (its
calls fail as they do there), by a limit of 0 on a kind of namespace, or by a
mount namespace of its own.  Nothing of this machine is changed."""
import ctypes
import errno
import pathlib
import struct

from lib_redoma import *

CLONE, CLONE3, UNSHARE, SETNS = 56, 435, 272, 308
MOUNT, UMOUNT2, PIVOT_ROOT, CHROOT = 165, 166, 155, 161
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSCONFIG, FSMOUNT, FSPICK, MOUNT_SETATTR = (
    428, 429, 430, 431, 432, 433, 442)
ADD_KEY, REQUEST_KEY, KEYCTL = 248, 249, 250
PRCTL, CAPSET, PRLIMIT, SECCOMP = 157, 126, 302, 317
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
ANY, BITS, SAME = 0, 0x45, 0x15  # no condition; BPF_JSET, BPF_JEQ
NAMESPACES = 0x7E020000          # every CLONE_NEW*
ORDINARY = 65534


def ns(flag):
    return [(UNSHARE, errno.EPERM, (BITS, 0, flag))]


def fails(error, *calls):
    return [(nr, error, None) for nr in calls]


def filter_of(rows):
    """A BPF program: these calls fail, all others pass."""
    def insn(code, k, jt=0, jf=0):
        return struct.pack("HBBI", code, jt, jf, k)

    out = []
    for nr, error, when in rows:
        body = [insn(0x06, 0x00050000 | error)]
        if when:
            test, arg, value = when
            body = [insn(0x20, 16 + 8 * arg), insn(test, value, 0, 1)] + body
        out += [insn(0x20, 0), insn(0x15, nr, 0, len(body))] + body
    return b"".join(out + [insn(0x06, 0x7fff0000)])


def put_around(rows, closed=(), uid=None):
    """For preexec_fn: the filter holds for the command and what it starts."""
    program = filter_of(rows)

    class Fprog(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("insns", ctypes.c_void_p)]

    text = ctypes.create_string_buffer(program)
    prog = Fprog(len(program) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None)

    def go(keep=text):  # the kernel reads it
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        if rows and (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
                PR_SET_SECCOMP, 2, ctypes.byref(prog), 0, 0)):
            os._exit(99)
        for fd in closed:
            os.close(fd)
    return go


class Host:
    """rows: calls that fail.  script: run by sh as root of a mount namespace
    of its own, ends with exec of "$@".  limit: the kind of namespace of which
    a user namespace around the command allows none.  uid: who the command
    is."""

    def __init__(self, name, rows=(), script=None, limit=None, uid=None,
                 closed=()):
        self.name, self.rows, self.script = name, list(rows), script
        self.limit, self.uid, self.closed = limit, uid, closed

    def here(self):
        """Raises Skipped where it cannot be made."""
        root = os.geteuid() == 0
        if (self.script or self.limit or self.uid is not None) and not root:
            raise Skipped("root")
        if (self.script or self.limit) and not shutil.which("unshare"):
            raise Skipped("unshare(1)")

    def _words(self, argv):
        argv = [str(a) for a in argv]
        if self.limit:
            inner = (f"echo 0 > /proc/sys/user/max_{self.limit}_namespaces "
                     '&& exec "$@"')
            return ["unshare", "-U", "sh", "-c",
                    'read go; exec sh -c "$@"', "sh", inner, "sh", *argv]
        if self.script:
            return ["unshare", "-m", "--propagation", "private", "sh", "-ec",
                    self.script, "sh", *argv]
        return argv

    def start(self, argv, **kw):
        self.here()
        kw = {"cwd": scratch(), "stdin": subprocess.DEVNULL,
              "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
              "env": dict(os.environ, HOST_DIR=str(scratch())), **kw}
        if self.limit:
            kw["stdin"] = subprocess.PIPE
        p = subprocess.Popen(
            self._words(argv), **kw,
            preexec_fn=put_around(self.rows, self.closed, self.uid))
        if self.limit:
            self._map_ids(p)
        return p

    @staticmethod
    def _map_ids(p):
        end = time.monotonic() + 10
        while os.readlink(f"/proc/{p.pid}/ns/user") == os.readlink(
                "/proc/self/ns/user"):
            need(time.monotonic() < end, "no user namespace")
            time.sleep(0.005)
        for name in ("uid_map", "gid_map"):
            pathlib.Path(f"/proc/{p.pid}/{name}").write_text(
                "0 0 4294967294")
        p.stdin.write(b"go\n")
        p.stdin.close()
        p.stdin = None

    def run(self, *args, timeout=60, program=None):
        """The command there, with nothing left of it."""
        p = self.start([program or REDOMA, *args])
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            kill_survivors()
            raise Failed(f"{self.name}: {args} hangs") from None
        left = survivors()
        need(not left, f"{self.name}: left {left}")
        return subprocess.CompletedProcess(args, p.returncode, out, err)


# ---- the hosts

NEW_MOUNTS = (FSOPEN, FSCONFIG, FSMOUNT, FSPICK, OPEN_TREE, MOVE_MOUNT,
              MOUNT_SETATTR)
NO_MOUNTS = fails(errno.EPERM, MOUNT, PIVOT_ROOT, *NEW_MOUNTS)
# The default profile of Docker, in a container without CAP_SYS_ADMIN.
CONTAINER = fails(errno.ENOSYS, CLONE3) + [
    (CLONE, errno.EPERM, (BITS, 0, NAMESPACES))] + fails(
    errno.EPERM, UNSHARE, SETNS, MOUNT, UMOUNT2, PIVOT_ROOT, *NEW_MOUNTS,
    ADD_KEY, REQUEST_KEY, KEYCTL)
CHROOTED = ('mkdir -p "$HOST_DIR/host"; mount --rbind / "$HOST_DIR/host"; '
            'exec chroot "$HOST_DIR/host" "$@"')
NO_CGROUPS = 'umount -R -l /sys/fs/cgroup; exec "$@"'
FIXED_CGROUPS = (
    "while read -r _ _ _ _ at _; do case $at in /sys/fs/cgroup*) "
    'mount -o remount,bind,ro "$at";; esac; done < /proc/self/mountinfo; '
    'exec "$@"')
MASKED_PROC = 'mount -t tmpfs -o ro none /proc/irq; exec "$@"'

PLAIN_CHROOT = (
    'at="$HOST_DIR/plain"; for d in /*; do [ -d "$d" ] && [ ! -L "$d" ] || '
    'continue; mkdir -p "$at$d"; mount --rbind "$d" "$at$d"; done; '
    'for d in bin sbin lib lib64; do [ ! -L /$d ] || '
    'ln -sfn "$(readlink /$d)" "$at/$d"; done; exec chroot "$at" "$@"')

FULL = Host("this host")
# host, the tier that doctor names, --walls that js and .wasm need, and native
# programs (None: they cannot run there at all)
SPACES = "user,mount,pid,net,ipc,uts,cgroup-namespace"
HOSTS = [
    (FULL, "full", "", ""),
    (Host("an ordinary user, nothing is delegated", uid=ORDINARY),
     "no control group", "", "cgroup"),
    (Host("no user namespaces, by a limit of 0", limit="user"),
     "no user namespaces", "user", "user"),
    (Host("no user namespaces for users", ns(0x10000000), uid=ORDINARY),
     "no namespaces; no control group", SPACES + ",capabilities", None),
    (Host("user namespaces without mounts", NO_MOUNTS),
     "no mounts in user namespaces", "mount", None),
    (Host("user namespaces without mounts, a user", NO_MOUNTS, uid=ORDINARY),
     "no mounts in user namespaces; no control group", "mount", None),
    (Host("a chroot", script=CHROOTED), "no user namespaces", "user", "user"),
    (Host("a chroot that is no mount", script=PLAIN_CHROOT),
     "no user and mount namespaces", "user,mount", None),
    (Host("a container", CONTAINER), "no namespaces", SPACES, None),
    (Host("a container, a user", CONTAINER, uid=ORDINARY),
     "no namespaces; no control group", SPACES + ",capabilities", None),
    (Host("no clone3", fails(errno.ENOSYS, CLONE3)), "full", "", ""),
    (Host("no cgroup mounts", script=NO_CGROUPS), "no control group", "",
     "cgroup"),
    (Host("read-only cgroup mounts", script=FIXED_CGROUPS),
     "no control group", "", "cgroup"),
    (Host("a masked /proc", script=MASKED_PROC), "no /proc", "", ""),
    (Host("a masked /proc, no cgroup mounts",
          script=MASKED_PROC.replace('exec "$@"', "") + NO_CGROUPS),
     "no control group; no /proc", "", "cgroup"),
    (Host("no Landlock", fails(errno.ENOSYS, LANDLOCK_CREATE)),
     "no Landlock", "landlock", "landlock"),
    (Host("no filters", fails(errno.ENOSYS, SECCOMP)),
     "no system call filter", "seccomp", "seccomp"),
]

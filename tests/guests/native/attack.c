/* Tries calls that no native program may make and says what came of each:
 * a line NAME, tab, "ok" or the name of the error. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_alg.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *name, long r)
{
	printf("%s\t%s\n", name, r >= 0 ? "ok" : strerrorname_np(errno));
	fflush(stdout);
}

#define CALL(...) syscall(__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static void try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_NONBLOCK);

	say(path, fd);
	if (fd >= 0)
		close(fd);
}

static int own_exe(char **arg)
{
	try_open("/proc/self/exe", O_WRONLY);
	try_open("/proc/self/exe", O_RDWR | O_TRUNC);
	try_open("/proc/1/exe", O_RDONLY);
	try_open("/proc/1/exe", O_WRONLY);
	say("truncate", truncate("/proc/self/exe", 0));
	say("chmod", chmod("/proc/self/exe", 0777));
	say("unlink", unlink(arg[0]));
	say("map", open("/proc/self/map_files", O_RDONLY | O_DIRECTORY) < 0
			   ? -1
			   : open("/proc/1/map_files", O_RDONLY));
	return 0;
}

static int fds(char **arg)
{
	char path[64], cwd[4096];
	int n = 0, dir, climb = -1, sys = ENOTDIR;

	(void)arg;
	for (int fd = 0; fd < 4096; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		n++;
		snprintf(path, sizeof path, "/proc/self/fd/%d/../..", fd);
		dir = open(path, O_RDONLY | O_DIRECTORY);
		if (dir < 0)
			sys = errno;
		else
			climb = close(dir);
	}
	printf("count\t%d\ncwd\t%s\n", n, getcwd(cwd, sizeof cwd));
	errno = sys;
	say("climb", climb);
	return 0;
}

static int kernel_files(char **arg)
{
	static const char *const paths[] = {
		"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
		"/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/1/root/",
		"/proc/1/environ", "/proc/1/mem", "/proc/1/cwd/",
		"/proc/1/fd/0", "/proc/1/ns/mnt", "/proc/1/maps",
		"/proc/self/mem/../../1/mem", "/proc/keys", "/proc/mounts/x",
		"/proc/scsi", "/proc/bus", "/proc/timer_list", "/proc/iomem",
		"/proc/config.gz", "/proc/cpuinfo/x", "/sys/kernel", "/sys",
		"/dev/mem", "/dev/kmsg", "/dev/tty", "/dev/ptmx",
		"/dev/pts/ptmx", "/dev/console", "/dev/fuse", "/dev/kvm",
		"/dev/shm", "/dev/mqueue", "/dev/vda", "/dev/net/tun",
		"/dev/loop-control", "/run", "/var", "/root", "/home", "/boot",
		"/etc/shadow", "/etc/hostname", "/proc/self/attr/exec/x",
		"/.granted", "/tmp/../root", "/proc/self/root/root",
		"/proc/self/cwd/root", "/../root", "/proc/thread-self/root/home"};

	(void)arg;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		try_open(paths[i], O_RDONLY);
	try_open("/proc/self/oom_score_adj", O_WRONLY);
	try_open("/proc/self/uid_map", O_WRONLY);
	try_open("/proc/self/setgroups", O_WRONLY);
	try_open("/proc/self/timerslack_ns", O_WRONLY);
	return 0;
}

static int ids(char **arg)
{
	uid_t r, e, s;

	(void)arg;
	getresuid(&r, &e, &s);
	printf("uid\t%d\neuid\t%d\ngid\t%d\negid\t%d\nsuid\t%d\n", r, e,
	       getgid(), getegid(), s);
	return 0;
}

static int copy_self(const char *to)
{
	static char bytes[1 << 20];
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(to, O_CREAT | O_RDWR | O_TRUNC, 0700);
	ssize_t n;

	while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0)
		if (write(out, bytes, (size_t)n) != n)
			return -1;
	close(in);
	return out;
}

/* By a child, whose exit code is the error. */
static void try_exec(const char *name, const char *path, int fd)
{
	char *argv[] = {(char *)path, (char *)"ids", NULL};
	int status, pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(1);
		if (fd < 0)
			execve(path, argv, NULL);
		else
			syscall(SYS_execveat, fd, "", argv, NULL, 0x1000);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
	say(name, errno ? -1 : 0);
}

static int run_written(char **arg)
{
	const char *dirs[] = {arg[2] ? arg[2] : "/tmp", arg[2] ? arg[2] : "/o"};
	char path[4096];

	for (int i = 0; i < 2; i++) {
		int fd;

		snprintf(path, sizeof path, "%s/copy", dirs[i]);
		fd = copy_self(path);
		if (fd < 0)
			return 1;
		close(fd); /* who may write to it keeps it from starting */
		fd = open(path, O_RDONLY);
		say(i ? "map /o" : "map /tmp",
		    mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
				    MAP_FAILED
			    ? -1
			    : 0);
		try_exec(i ? "exec of /o" : "exec", path, -1);
		try_exec(i ? "execveat of /o" : "execveat", path, fd);
		close(fd);
	}
	say("memfd", CALL(SYS_memfd_create, "x"));
	return 0;
}

static int climb(char **arg)
{
	int dir = open(arg[2], O_RDONLY | O_DIRECTORY), sv[2], got = -1;
	char byte = 0, room[CMSG_SPACE(sizeof dir)] = {0};
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof room};
	struct stat a, b;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return say("pair", -1), 0;
	CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
	CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
	CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(sizeof dir);
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &dir, sizeof dir);
	if (sendmsg(sv[0], &m, 0) == 1 && recvmsg(sv[1], &m, 0) == 1)
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof got);
	say("new file", openat(dir, "new", O_CREAT | O_WRONLY, 0600));
	say("sent: new file", got < 0 ? -1 : openat(got, "new", O_CREAT | 1, 0600));
	say("beside", openat(dir, "../beside.txt", O_RDONLY));
	say("sent: beside", openat(got, "../beside.txt", O_RDONLY));
	for (int i = 0; i < 40 && dir >= 0; i++)
		dir = openat(dir, "..", O_RDONLY | O_DIRECTORY);
	if (!fstat(dir, &a) && !stat("/", &b))
		printf("root\t%s\n", a.st_dev == b.st_dev &&
						     a.st_ino == b.st_ino
					     ? "same" : "other");
	say("handle", CALL(SYS_name_to_handle_at, dir, "x"));
	say("by handle", CALL(SYS_open_by_handle_at, dir, "x"));
	return 0;
}

static int families(char **arg)
{
	char made[4096] = "";

	(void)arg;
	for (int f = 0; f < 64; f++)
		for (int t = 1; t < 7; t++) {
			int fd = socket(f, t, 0);

			if (fd < 0)
				continue;
			close(fd);
			snprintf(made + strlen(made), 16, "%d/%d ", f, t);
			if (strlen(made) > sizeof made - 32)
				break;
		}
	printf("made\t%s\n", *made ? made : "none");
	return 0;
}

static int int80(char **arg)
{
	long r = 20; /* getpid there */

	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10",
			 "r11");
	printf("int80\t%ld\n", r);
	return 0;
}

static int x32(char **arg)
{
	(void)arg;
	say("x32", syscall(SYS_getpid | 0x40000000));
	return 0;
}

static int rings(char **arg)
{
	(void)arg;
	say("setup", syscall(SYS_io_uring_setup, 8, calloc(1, 256)));
	say("enter", CALL(SYS_io_uring_enter, 0, 1));
	say("register", CALL(SYS_io_uring_register, 0));
	return 0;
}

static int spaces(char **arg)
{
	static const struct { const char *name; long flag; } all[] = {
		{"mnt", CLONE_NEWNS}, {"uts", CLONE_NEWUTS},
		{"ipc", CLONE_NEWIPC}, {"user", CLONE_NEWUSER},
		{"pid", CLONE_NEWPID}, {"net", CLONE_NEWNET},
		{"cgroup", CLONE_NEWCGROUP}, {"time", 0x80}};
	char name[64];

	(void)arg;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		uint64_t args[11] = {(uint64_t)all[i].flag, 0, 0, 0, SIGCHLD};
		long pid = -1;

		snprintf(name, sizeof name, "unshare %s", all[i].name);
		say(name, unshare((int)all[i].flag));
		snprintf(name, sizeof name, "clone3 %s", all[i].name);
		pid = syscall(SYS_clone3, args, sizeof args);
		if (pid == 0)
			_exit(0);
		say(name, pid);
		if (all[i].flag == 0x80)
			continue;
		snprintf(name, sizeof name, "clone %s", all[i].name);
		pid = syscall(SYS_clone, all[i].flag | SIGCHLD, 0, 0, 0, 0);
		if (pid == 0)
			_exit(0);
		say(name, pid);
	}
	say("setns", CALL(SYS_setns, 0));
	say("chroot", chroot("/tmp"));
	say("pivot_root", CALL(SYS_pivot_root, "/", "/"));
	say("hostname", sethostname("x", 1));
	return 0;
}

static int mounts(char **arg)
{
	(void)arg;
	say("mount", mount("none", "/tmp", "tmpfs", 0, ""));
	say("bind", mount("/", "/tmp", NULL, MS_BIND, ""));
	say("remount", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, ""));
	say("umount", umount2("/proc", MNT_DETACH));
	say("umount tmp", umount2("/tmp", MNT_DETACH));
	say("fsopen", CALL(SYS_fsopen, "tmpfs"));
	say("fsmount", CALL(SYS_fsmount));
	say("fspick", CALL(SYS_fspick, AT_FDCWD, "/tmp"));
	say("open_tree", CALL(SYS_open_tree, AT_FDCWD, "/", 1));
	say("move_mount", CALL(SYS_move_mount, AT_FDCWD, "/tmp", AT_FDCWD, "/"));
	say("setattr", CALL(SYS_mount_setattr, AT_FDCWD, "/", 0));
	say("statmount", CALL(457));
	say("swapon", CALL(SYS_swapon, "/tmp/x"));
	say("quotactl", CALL(SYS_quotactl));
	return 0;
}

static int trace(char **arg)
{
	int self = getpid(), child = fork();
	char b[8] = {0};
	struct iovec v = {b, 8};

	(void)arg;
	if (child == 0) {
		pause();
		_exit(0);
	}
	say("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
	say("attach", ptrace(PTRACE_ATTACH, child, 0, 0));
	say("seize", ptrace(PTRACE_SEIZE, child, 0, 0));
	say("attach init", ptrace(PTRACE_ATTACH, 1, 0, 0));
	say("readv", process_vm_readv(child, &v, 1, &v, 1, 0));
	say("writev", process_vm_writev(child, &v, 1, &v, 1, 0));
	say("pidfd_open", CALL(SYS_pidfd_open, 1));
	say("pidfd of a child", CALL(SYS_pidfd_open, child));
	say("pidfd_getfd", CALL(SYS_pidfd_getfd, 0, 0));
	say("kcmp", CALL(SYS_kcmp, self, 1));
	say("madvise", CALL(SYS_process_madvise));
	say("/proc/1/mem", open("/proc/1/mem", O_RDONLY));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

static int keys(char **arg)
{
	(void)arg;
	say("add_key", CALL(SYS_add_key, "user", "redoma", "x", 1, -3));
	say("request_key", CALL(SYS_request_key, "user", "redoma", "", -3));
	say("get", CALL(SYS_keyctl, 0, -3, 1));
	say("persistent", CALL(SYS_keyctl, 22, -1, -3));
	say("search", CALL(SYS_keyctl, 10, -3, "user", "redoma"));
	return 0;
}

static int odd(char **arg)
{
	static const struct { const char *name; long nr; } all[] = {
		{"bpf", SYS_bpf}, {"perf", SYS_perf_event_open},
		{"userfaultfd", SYS_userfaultfd}, {"kexec", SYS_kexec_load},
		{"module", SYS_init_module}, {"reboot", SYS_reboot},
		{"syslog", SYS_syslog}, {"settime", SYS_clock_settime},
		{"acct", SYS_acct}, {"iopl", SYS_iopl},
		{"modify_ldt", SYS_modify_ldt}, {"fanotify", SYS_fanotify_init},
		{"memfd_secret", SYS_memfd_secret}, {"seccomp", SYS_seccomp},
		{"vmsplice", SYS_vmsplice}, {"tee", SYS_tee},
		{"flock", SYS_flock}, {"mlockall", SYS_mlockall},
		{"sync", SYS_sync}, {"inotify", SYS_inotify_init1}};

	(void)arg;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (getuid() == 1000 || i > 15)
			say(all[i].name, CALL(all[i].nr));
	say("memfd", CALL(SYS_memfd_create, "x"));
	say("lease", fcntl(open("/", O_RDONLY), F_SETLEASE, F_RDLCK));
	say("owner", fcntl(0, F_SETOWN, 1));
	say("async", fcntl(0, F_SETSIG, SIGKILL));
	return 0;
}

/* A call that waits is ended; one that ends us says nothing. */
static void sweep_one(long nr, long a)
{
	int status, pid = fork(), n = 0;

	if (pid == 0) {
		for (int fd = 0; fd < 64; fd++)
			close(fd);
		errno = 0;
		if (syscall(nr, a, a, a, a, a, a) < 0 && errno == ENOSYS)
			_exit(98);
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		usleep(500);
		if (n++ > 400)
			kill(pid, SIGKILL);
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 98)
		printf("%ld\t%d\n", nr, status);
}

static int sweep(char **arg)
{
	(void)arg;
	signal(SIGTERM, SIG_IGN);
	setpgid(0, 0);
	for (long nr = 0; nr < 1024; nr++) {
		fflush(stdout);
		sweep_one(nr, 0);
		fflush(stdout);
		/* kill(-1, -1) and its like are no signal. */
		sweep_one(nr, -1);
	}
	printf("end\tok\n");
	return 0;
}

static int signals(char **arg)
{
	char name[32];

	for (int i = 2; i < 4; i++) {
		int pid = atoi(arg[i]);

		snprintf(name, sizeof name, "kill %d", i);
		say(name, kill(pid, SIGTERM));
		snprintf(name, sizeof name, "group %d", i);
		say(name, kill(-pid, SIGTERM));
		snprintf(name, sizeof name, "tgkill %d", i);
		say(name, CALL(SYS_tgkill, pid, pid, SIGTERM));
		snprintf(name, sizeof name, "queue %d", i);
		say(name, CALL(SYS_rt_sigqueueinfo, pid, SIGTERM));
	}
	say("priority", setpriority(PRIO_PROCESS, atoi(arg[2]), 5));
	say("affinity", CALL(SYS_sched_setaffinity, atoi(arg[2]), 8, arg));
	say("limit", CALL(SYS_prlimit64, atoi(arg[2]), 7));
	for (int pid = 2000; pid < 40000; pid++)
		if (kill(pid, 0) == 0)
			say("found", 0);
	return 0;
}

static int kill_all(char **arg)
{
	(void)arg;
	kill(1, SIGKILL);
	kill(-1, SIGTERM);
	kill(-1, SIGKILL);
	printf("alive\tok\n");
	return 0;
}

static void dial(const char *name, int family, int type, const void *a,
		 socklen_t len)
{
	int fd = socket(family, type, 0);

	say(name, fd < 0 || connect(fd, a, len) ||
				    (type == SOCK_DGRAM && send(fd, "x", 1, 0) < 0)
			    ? -1 : 0);
}

static int dial_all(char **arg)
{
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	strncpy(u.sun_path + 1, arg[2], 90);
	dial("abstract", AF_UNIX, SOCK_STREAM, &u,
	     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			 strlen(arg[2])));
	strncpy(u.sun_path, arg[5], 100);
	dial("path", AF_UNIX, SOCK_STREAM, &u, sizeof u);
	in.sin_port = htons((uint16_t)atoi(arg[3]));
	dial("tcp", AF_INET, SOCK_STREAM, &in, sizeof in);
	in.sin_port = htons((uint16_t)atoi(arg[4]));
	dial("udp", AF_INET, SOCK_DGRAM, &in, sizeof in);
	return 0;
}

static int ipc(char **arg)
{
	char path[128];
	long key = atoi(arg[2]);

	say("shm", CALL(SYS_shmget, key));
	say("sem", CALL(SYS_semget, key));
	say("msg", CALL(SYS_msgget, key));
	snprintf(path, sizeof path, "/dev/shm/%s", arg[3]);
	say("posix", open(path, O_RDONLY));
	if (getuid() == 1000)
		say("mq", CALL(SYS_mq_open, "redoma", O_CREAT | O_RDWR, 0600));
	return 0;
}

static int terminal(char **arg)
{
	static const unsigned long calls[] = {
		TIOCSTI, TIOCSTI | 1ul << 32, 0x541Cul, 0x541Cul | 1ul << 32,
		TIOCSCTTY, TIOCSWINSZ, TCSETS, TIOCSETD, 0x5404};
	char name[64], c = 'x';

	(void)arg;
	for (int fd = 0; fd < 3; fd++)
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
			snprintf(name, sizeof name, "%d %lx", fd, calls[i]);
			say(name, syscall(SYS_ioctl, fd, calls[i], &c));
		}
	try_open("/dev/tty", O_RDWR);
	try_open("/dev/console", O_RDWR);
	try_open("/dev/ptmx", O_RDWR);
	try_open("/dev/pts/0", O_RDWR);
	return 0;
}

static int limits(char **arg)
{
	static const int kinds[] = {RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_NICE,
				    RLIMIT_RTPRIO, RLIMIT_MSGQUEUE};
	struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
	char name[32];

	(void)arg;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(name, sizeof name, "limit %d", kinds[i]);
		say(name, setrlimit((__rlimit_resource_t)kinds[i], &most));
	}
	say("files", setrlimit(RLIMIT_NOFILE, &most));
	say("size", setrlimit(RLIMIT_FSIZE, &most));
	say("nice", setpriority(PRIO_PROCESS, 0, -5));
	say("real time", CALL(SYS_sched_setscheduler, 0, 1, &(int){1}));
	return 0;
}

static int privilege(char **arg)
{
	uint32_t head[2] = {0x20080522, 0}, data[6] = {~0u, ~0u, ~0u, ~0u};

	(void)arg;
	say("setuid", setuid(0));
	say("setresuid", setresuid(0, 0, 0));
	say("setgid", setgid(0));
	say("setgroups", CALL(SYS_setgroups, 0));
	say("capset", CALL(SYS_capset, head, data));
	say("ambient", CALL(SYS_prctl, 47, 2, 21));
	say("securebits", CALL(SYS_prctl, 28, 0));
	say("keepcaps", CALL(SYS_prctl, 8, 1));
	say("dumpable", CALL(SYS_prctl, 4, 1));
	say("subreaper", CALL(SYS_prctl, 36, 1));
	say("ptracer", CALL(SYS_prctl, 0x59616d61, -1));
	say("pty", open("/dev/ptmx", O_RDWR));
	say("mknod", mknod("/tmp/null", S_IFCHR | 0666, 0x103));
	say("fifo", mkfifo("/tmp/fifo", 0600));
	say("bind", CALL(SYS_bind, 0));
	say("personality", CALL(SYS_personality, 0x0040000));
	return 0;
}

int main(int n, char **arg)
{
	static const struct { const char *name; int (*f)(char **); } all[] = {
		{"own_exe", own_exe}, {"fds", fds},
		{"kernel_files", kernel_files}, {"ids", ids},
		{"run_written", run_written}, {"climb", climb},
		{"families", families}, {"int80", int80}, {"x32", x32},
		{"rings", rings}, {"spaces", spaces}, {"mounts", mounts},
		{"trace", trace}, {"keys", keys}, {"odd", odd},
		{"sweep", sweep}, {"signals", signals}, {"kill_all", kill_all},
		{"connect", dial_all}, {"ipc", ipc}, {"terminal", terminal},
		{"limits", limits}, {"privilege", privilege}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; n > 1 && i < sizeof all / sizeof *all; i++)
		if (!strcmp(arg[1], all[i].name))
			return all[i].f(arg);
	return 99;
}

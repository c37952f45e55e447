/* Our own programs are started so that the host program does not notice. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "pool/spawn.h"

static volatile sig_atomic_t heard;

static void on_child(int sig)
{
	(void)sig;
	heard = 1;
}

/* What the shell says on descriptor 3, to its end. */
static size_t shell(const char *script, char *said, size_t size)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int p[2], pidfd = -1;
	size_t n = 0;
	ssize_t got;
	struct redoma_error err = {0};

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	struct spawn_request q = {.path = "/bin/sh",
				  .argv = argv,
				  .fds = &p[1],
				  .n_fds = 1};
	if (spawn_process(&q, &pidfd, &err))
		fail_msg("%s", err.text);
	close(p[1]);
	while ((got = read(p[0], said + n, size - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(p[0]);
	spawn_end(pidfd, 0);
	return n;
}

static void runs_with_its_descriptors_only(void **state)
{
	char said[4096];

	(void)state;
	assert_true(dup2(0, 30) == 30); /* leaks without care */
	shell("ls /proc/self/fd >&3", said, sizeof said);
	close(30);
	assert_null(strstr(said, "30"));
	assert_non_null(strstr(said, "3\n"));
}

static void inherits_no_environment(void **state)
{
	char said[4096];

	(void)state;
	assert_int_equal(setenv("CANARY", "1", 1), 0);
	shell("echo \"<$CANARY>\" >&3; readlink /proc/self/fd/0 >&3", said,
	      sizeof said);
	assert_non_null(strstr(said, "<>"));
	assert_non_null(strstr(said, "/dev/null"));
}

static void the_host_hears_nothing(void **state)
{
	struct sigaction sa = {.sa_handler = on_child}, old;
	char said[64];

	(void)state;
	sigaction(SIGCHLD, &sa, &old);
	heard = 0;
	assert_int_equal(shell("echo ok >&3", said, sizeof said), 3);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(heard, 0);
	sigaction(SIGCHLD, &old, NULL);
}

static void a_missing_program_is_said(void **state)
{
	const char *const argv[] = {"nothing", NULL};
	struct spawn_request q = {.path = "/nonexistent/worker", .argv = argv};
	struct redoma_error err;
	int pidfd;

	(void)state;
	assert_int_equal(spawn_process(&q, &pidfd, &err), REDOMA_E_SYSTEM);
	assert_non_null(strstr(err.text, "/nonexistent/worker"));
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* ---- of a start that fails nothing is left ---- */

/* Whose parent is gone is our child then. */
static void adopt(bool on)
{
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0), 0);
}

/* Those that end are reaped; false: one does not. */
static bool all_have_ended(void)
{
	for (int i = 0; i < 5000; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);

		if (pid < 0 && errno == ECHILD)
			return true;
		if (!pid)
			usleep(1000);
	}
	return false;
}

#define STARTS 200
#define MIDDLE_US 600 /* what a start may take */

struct hunt {
	char children[64]; /* of the thread that starts them */
	_Atomic int over;
	int killed;
	unsigned seed;
};

static void spin_us(uint64_t us)
{
	uint64_t until = clock_monotonic_us() + us;

	while (clock_monotonic_us() < until)
		;
}

/* Whoever is a child of ours is in the middle of a start, somewhere. */
static void *kill_the_middle(void *arg)
{
	struct hunt *h = arg;

	while (!atomic_load(&h->over)) {
		char list[64];
		int fd = open(h->children, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, list, sizeof list - 1);
		int pid;

		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		list[n] = '\0';
		pid = atoi(list);
		spin_us((uint64_t)rand_r(&h->seed) % MIDDLE_US);
		h->killed += pid > 0 && !kill(pid, SIGKILL);
	}
	return NULL;
}

/* It goes on until it is ended, and does not wait for anyone. */
static const char *const lasting[] = {"sleep", "30", NULL};

static void a_start_that_is_killed_leaves_nothing(void **state)
{
	struct hunt h = {.over = 0};
	int before, failed = 0;
	pthread_t thread;

	(void)state;
	adopt(true);
	snprintf(h.children, sizeof h.children, "/proc/self/task/%d/children",
		 (int)gettid());
	before = descriptors();
	assert_int_equal(pthread_create(&thread, NULL, kill_the_middle, &h), 0);
	for (int i = 0; i < STARTS; i++) {
		struct spawn_request q = {.path = "/bin/sleep",
					  .argv = lasting};
		struct redoma_error err;
		int pidfd = -1;

		if (spawn_process(&q, &pidfd, &err))
			failed++;
		else
			spawn_end(pidfd, 0);
		if (!all_have_ended())
			fail_msg("start %d left a process", i);
	}
	atomic_store(&h.over, 1);
	pthread_join(thread, NULL);
	adopt(false);
	assert_true(h.killed > 0);
	assert_true(failed > 0);
	print_message("# %d killed, %d starts failed\n", h.killed, failed);
	assert_int_equal(descriptors(), before);
}

#define FILES 128 /* that this host may have open */

static int taken[FILES];
static size_t n_taken;

static void take_all(void)
{
	while (n_taken < FILES &&
	       (taken[n_taken] = open("/dev/null", O_RDONLY)) >= 0)
		n_taken++;
}

static void give(size_t n)
{
	while (n_taken && n--)
		close(taken[--n_taken]);
}

static bool takes_on_the_way;

/* Others of the host open files at any moment. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	if (takes_on_the_way)
		take_all();
	return syscall(SYS_recvmsg, fd, m, flags);
}

/* Whether it started; then it runs, with what it was given. */
static bool starts(int in, int out)
{
	static const char *const argv[] = {"sh", "-c", "echo ok >&3; exec sleep 30",
					   NULL};
	const int fds[] = {out, out, out, out};
	struct spawn_request q = {
		.path = "/bin/sh", .argv = argv, .fds = fds, .n_fds = 4};
	struct pollfd heard_of = {.fd = in, .events = POLLIN};
	struct redoma_error err = {0};
	int pidfd = -1;
	char said[4];

	if (!spawn_process(&q, &pidfd, &err)) {
		assert_int_equal(poll(&heard_of, 1, 10000), 1);
		assert_int_equal(read(in, said, sizeof said), 3);
		spawn_end(pidfd, 0);
		return true;
	}
	assert_int_equal(err.code, REDOMA_E_SYSTEM);
	assert_non_null(strstr(err.text, "/bin/sh"));
	assert_non_null(strstr(err.text, "ulimit -n"));
	return false;
}

static void starts_or_leaves_nothing(size_t n_free, bool *ret_started)
{
	int p[2], before = descriptors();
	char said;

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	take_all();
	give(n_free);
	*ret_started = starts(p[0], p[1]);
	give(FILES);
	close(p[1]);
	if (!all_have_ended())
		fail_msg("%zu free: a process is left", n_free);
	assert_int_equal(read(p[0], &said, 1), 0);
	close(p[0]);
	assert_int_equal(descriptors(), before);
}

static void a_host_without_descriptors(void **state)
{
	struct rlimit old, few;
	bool started;

	(void)state;
	adopt(true);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){FILES, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (size_t n = 0; n < 3; n++) {
		starts_or_leaves_nothing(n, &started);
		assert_false(started);
	}
	starts_or_leaves_nothing(3, &started);
	assert_true(started);
	takes_on_the_way = true;
	starts_or_leaves_nothing(10, &started);
	takes_on_the_way = false;
	assert_false(started);
	setrlimit(RLIMIT_NOFILE, &old);
	adopt(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_with_its_descriptors_only),
		cmocka_unit_test(inherits_no_environment),
		cmocka_unit_test(the_host_hears_nothing),
		cmocka_unit_test(a_missing_program_is_said),
		cmocka_unit_test(a_start_that_is_killed_leaves_nothing),
		cmocka_unit_test(a_host_without_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

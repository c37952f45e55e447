/* A spawner is killed at a random moment of its start, while it makes jails, and
 * with some parked, 2,000 times, by root and by an ordinary user: nobody of its
 * jails, its mounter and its sweeper outlives it.  Whoever does comes to us.
 * test-seconds: 600 */
#include <sys/prctl.h>
#include <time.h>

#include "../unit/native_core.h"

#define ROUNDS 2000
#define ORDINARY_ID 65534
#define EARLY_NS 5000000u
#define LATE_NS 40000000u
#define GONE_MS 3000

static bool we_have_children(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

static bool all_gone(int ms)
{
	struct timespec nap = {0, 1000000};

	for (int i = 0; i < ms && we_have_children(); i++)
		nanosleep(&nap, NULL);
	return !we_have_children();
}

static void send_setup(int sock)
{
	struct core k = {.setup = core_setup()};

	k.c = malloc(sizeof *k.c);
	assert_non_null(k.c);
	channel_init(k.c, sock);
	k.setup.park = 4;
	/* An ordinary user may have none. */
	k.setup.may_lack = geteuid() ? 1u << JAIL_CGROUP : 0;
	core_send_setup(&k, core_root, sizeof core_root / sizeof *core_root);
	channel_done(k.c);
	free(k.c);
}

/* Whether it told of more than that it had started: of jails. */
static bool had_jails(int sock)
{
	size_t most = sizeof(struct frame) + sizeof(struct spawn_ready), n = 0;
	char b[1024];
	ssize_t len;

	while ((len = recv(sock, b, sizeof b, MSG_DONTWAIT)) > 0)
		n += (size_t)len;
	return n > most;
}

/* True if it was killed by us and nobody is left. */
static bool one_round(unsigned most_ns, int *with_jails)
{
	struct timespec wait = {0, (long)((unsigned)rand() % most_ns)};
	int sv[2], status;
	bool good;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return false;
	pid = fork();
	if (pid == 0)
		core_exec(sv[1], 0);
	close(sv[1]);
	send_setup(sv[0]);
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	good = waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       all_gone(GONE_MS);
	*with_jails += had_jails(sv[0]);
	close(sv[0]);
	return good;
}

/* What a round would see of one that lives on. */
static bool survivor_is_seen(void)
{
	pid_t pid = fork();
	bool seen;

	if (pid == 0) {
		if (fork() == 0) {
			alarm(1);
			for (;;)
				pause();
		}
		_exit(0);
	}
	seen = !all_gone(200);
	return all_gone(GONE_MS) && seen;
}

static int all_rounds(const char *as)
{
	int bad = !survivor_is_seen(), with_jails = 0;

	printf("1..2\n%sok 1 - %s: an untied grandchild is seen\n",
	       bad ? "not " : "", as);
	srand(20261130);
	for (int i = 0; i < ROUNDS / 2; i++)
		bad += !one_round(i % 2 ? EARLY_NS : LATE_NS,
				  &with_jails);
	/* Some have none yet, and some have. */
	bad += with_jails < ROUNDS / 40;
	printf("%sok 2 - %s: %d spawners killed, %d with jails, %d bad\n",
	       bad ? "not " : "", as, ROUNDS / 2, with_jails, bad);
	fflush(stdout);
	return bad != 0;
}

int main(void)
{
	int status = 0;
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return 1;
	if (geteuid() != 0)
		return all_rounds("user");
	pid = fork();
	if (pid == 0) {
		if (setgroups(0, NULL) ||
		    setresgid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    setresuid(ORDINARY_ID, ORDINARY_ID, ORDINARY_ID) ||
		    prctl(PR_SET_CHILD_SUBREAPER, 1))
			_exit(99);
		exit(all_rounds("user"));
	}
	waitpid(pid, &status, 0);
	return all_rounds("root") || status;
}

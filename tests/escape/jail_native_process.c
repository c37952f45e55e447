/* Signals, forks, limits, terminals and crashes of a native program.
 * test-seconds: 300 */
#include "attack_process.h"
#include "native_ward.h"

/* Its own limit of core dumps: at 0 a program that is piped to would run. */
static int lower_core(struct scene *s)
{
	struct rlimit l = {0, 0};

	(void)s;
	return setrlimit(RLIMIT_CORE, &l) ? errno : 0;
}

static int limit_other(struct scene *s)
{
	struct rlimit l;

	return prlimit(s->target, RLIMIT_NOFILE, NULL, &l) ? errno : 0;
}

static int end_init(struct scene *s)
{
	(void)s;
	return kill(1, 0) ? errno : 0;
}

/* A program that crashes, after the exec that makes it dumpable again. */
static int crash_after_exec(struct scene *s)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"kill -SEGV $$",
			NULL};

	(void)s;
	execve("/bin/sh", argv, NULL);
	return errno;
}

static const struct attack attacks[] = {
	{"signal a process", term_target, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ESRCH}, {NEITHER, ESRCH})},
	{"signal a thread", signal_thread, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ESRCH}, {NEITHER, ESRCH})},
	{"signal by a pidfd", signal_by_pidfd, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ESRCH})},
	/* Only what Landlock's scope lets it see: itself is not counted. */
	{"signal all", signal_all, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ESRCH}, {NEITHER, ESRCH})},
	{"signal init", end_init, AS_ROOT,
	 ROWS({NONE, WORKED}, {JAILED, SINCE_ABI(6, EPERM)},
	      {NO_RULES, WORKED})},
	{"raise a limit", raise_limit, AS_ROOT,
	 ROWS({NONE, WORKED}, {JAILED, EPERM}, {NEITHER, EPERM})},
	{"lower its limit of core dumps", lower_core, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, WORKED})},
	{"read another's limits", limit_other, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, ESRCH})},
	{"lock memory", lock_memory, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EPERM})},
};

static const struct attack with_terminal[] = {
	{"push a character into the terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EPERM}),
	 .keep = 1},
	{"push a character into the terminal, 1<<32", push_char_high, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EPERM}),
	 .keep = 1},
	{"push a character into a closed terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, EBADF})},
};

static const struct attack with_free_terminal[] = {
	{"make a terminal its own", take_terminal, AS_BOTH,
	 ROWS({NONE, WORKED}, {JAILED, ENOSYS}, {NO_FILTER, WORKED}),
	 .keep = 1},
};

static int cores(void)
{
	static const struct attack a = {.name = "crash",
					.run = crash_after_exec};
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
	char pattern[128] = "";
	struct score sc = {0};
	struct outcome out;
	struct scene s;
	int rc, fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	bool plain = fd >= 0 && read(fd, pattern, sizeof pattern - 1) > 0 &&
		     pattern[0] != '|' && pattern[0] != '/';

	close(fd);
	printf("1..2\n");
	if (!plain || setrlimit(RLIMIT_CORE, &l) || !make_scene(&s) ||
	    chdir(s.dir)) {
		for (int i = 1; i <= 2; i++)
			printf("ok %d - crash # SKIP no plain core files\n", i);
		return 0;
	}
	rc = native_try(&a, NONE, &s, &out);
	tap(&sc, rc == -SIGSEGV && out.info.si_code == CLD_DUMPED,
	    "a crash leaves a core", "");
	rc = native_try(&a, JAILED, &s, &out);
	tap(&sc, rc == -SIGSEGV && out.info.si_code == CLD_KILLED,
	    "a crash in a native jail leaves none", "");
	return sc.failed || system("rm -rf -- \"$PWD\"") || chdir("/");
}

int main(void)
{
	int bad = native_main(attacks, COUNT_OF(attacks), with_target);

	bad |= cores();
	bad |= native_main(with_free_terminal, COUNT_OF(with_free_terminal),
			   leak_is_free_terminal);
	bad |= native_main(with_terminal, COUNT_OF(with_terminal),
			   leak_is_terminal);
	return bad != 0;
}

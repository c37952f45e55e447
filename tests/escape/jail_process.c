/* Signals, forks, limits, terminals and crashes. */
#include "attack_process.h"

#define OF_ANOTHER                                                           \
	ROWS({NONE, WORKED}, {PID, ESRCH},                                   \
	     {LANDLOCK, SINCE_ABI(6, EPERM)}, {SECCOMP, KILLED},             \
	     {NO_SECCOMP, ESRCH}, {ALL, KILLED})

static const struct attack attacks[] = {
	{"signal a process", term_target, AS_BOTH, OF_ANOTHER},
	{"signal a thread", signal_thread, AS_BOTH, OF_ANOTHER},
	{"signal by a pidfd", signal_by_pidfd, AS_BOTH, OF_ANOTHER},
	{"signal all", signal_all, AS_BOTH,
	 ROWS({NONE, WORKED}, {PID, ESRCH}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ESRCH}, {ALL, KILLED})},
	{"find other processes", sweep, AS_BOTH,
	 ROWS({NONE, WORKED}, {PID, ESRCH}, {SECCOMP, KILLED},
	      {NO_SECCOMP, ESRCH}, {ALL, KILLED})},
	{"fork", fork_once, AS_USER,
	 ROWS({NONE, WORKED}, {RLIMITS, EAGAIN}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	/* The limit of processes does not count for host root. */
	{"fork", fork_once, AS_ROOT,
	 ROWS({NONE, WORKED}, {RLIMITS, WORKED}, {RLIMITS | USER, EAGAIN},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	{"fork bomb", fork_bomb, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | USER, EAGAIN}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EAGAIN}, {ALL, KILLED})},
	{"start a thread", start_thread, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | USER, EAGAIN}, {SECCOMP, KILLED},
	      {ALL, KILLED})},
	{"raise a limit", raise_limit, AS_ROOT,
	 ROWS({NONE, WORKED}, {RLIMITS, WORKED}, {RLIMITS | CAPS, EPERM},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EPERM}, {ALL, KILLED})},
	{"lock memory", lock_memory, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS | CAPS, EPERM}, {SECCOMP, KILLED},
	      {NO_SECCOMP, EPERM}, {ALL, KILLED})},
};

static const struct attack with_file[] = {
	{"write past the limit of a file", write_too_much, AS_BOTH,
	 ROWS({NONE, WORKED}, {RLIMITS, EFBIG}, {SECCOMP, WORKED},
	      {NO_SECCOMP, EFBIG}, {ALL, EFBIG}),
	 .keep = 1},
};

static const struct attack with_terminal[] = {
	{"push a character into the terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {SESSION | CAPS, EPERM}, {FDS, WORKED},
	      {SECCOMP, KILLED}, {NO_SECCOMP, EPERM}, {ALL, KILLED}),
	 .keep = 1},
	{"push a character into the terminal, 1<<32", push_char_high, AS_BOTH,
	 ROWS({NONE, WORKED}, {SESSION | CAPS, EPERM}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
	{"push a character into a closed terminal", push_char, AS_BOTH,
	 ROWS({NONE, WORKED}, {FDS, EBADF}, {NO_SECCOMP, EBADF},
	      {ALL, KILLED})},
};

static const struct attack with_free_terminal[] = {
	{"make a terminal its own", take_terminal, AS_BOTH,
	 ROWS({NONE, WORKED}, {NO_SECCOMP, WORKED}, {SECCOMP, KILLED},
	      {ALL, KILLED}),
	 .keep = 1},
};

/* Whether a crash leaves a core is in how the process ended. */
static int crashes(void)
{
	static const struct {
		uint32_t controls;
		bool core;
	} rows[] = {{NONE, true}, {SESSION, false}, {RLIMITS, false},
		    {NO_SECCOMP, false}, {ALL, false}};
	static const struct attack a = {.name = "crash", .run = crash};
	struct rlimit l = {RLIM_INFINITY, RLIM_INFINITY};
	char pattern[128] = "", name[64], set[256];
	struct score sc = {0};
	struct outcome out;
	struct scene s;
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	bool plain = fd >= 0 && read(fd, pattern, sizeof pattern - 1) > 0 &&
		     pattern[0] != '|' && pattern[0] != '/';

	close(fd);
	printf("1..5\n");
	if (!plain || setrlimit(RLIMIT_CORE, &l) || !make_scene(&s) ||
	    chdir(s.dir)) {
		for (int i = 1; i <= 5; i++)
			printf("ok %d - crash # SKIP no plain core files\n", i);
		return 0;
	}
	for (int i = 0; i < 5; i++) {
		int rc = ward_try(&a, rows[i].controls, &s, &out);
		bool core = out.info.si_code == CLD_DUMPED;

		snprintf(name, sizeof name, "crash under %s: %s",
			 show_controls(rows[i].controls, set),
			 rows[i].core ? "a core" : "no core");
		tap(&sc, rc == -SIGSEGV && core == rows[i].core, name, "");
	}
	return sc.failed || system("rm -rf -- \"$PWD\"") || chdir("/");
}

int main(void)
{
	int bad = ward_main(attacks, sizeof attacks / sizeof *attacks,
			    with_target);

	bad |= ward_main(with_file, 1, leak_is_file);
	bad |= crashes();
	bad |= ward_main(with_free_terminal, 1, leak_is_free_terminal);
	bad |= ward_main(with_terminal,
			 sizeof with_terminal / sizeof *with_terminal,
			 leak_is_terminal);
	return bad != 0;
}

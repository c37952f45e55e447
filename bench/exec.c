/* bench_exec N COMMAND [ARG...] --- COMMAND [ARG...] ...
 *
 * Runs the commands in turn, N rounds, output discarded, and prints a line for
 * each: wall nanoseconds from before the process exists until it is reaped. */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define COMMANDS_MAX 8

extern char **environ;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t once(char **argv)
{
	posix_spawn_file_actions_t a;
	uint64_t from = now_ns();
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&a) ||
	    posix_spawn_file_actions_addopen(&a, 1, "/dev/null", O_WRONLY, 0) ||
	    posix_spawnp(&pid, argv[0], &a, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "bench_exec: %s failed\n", argv[0]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&a);
	return now_ns() - from;
}

int main(int argc, char **argv)
{
	char **command[COMMANDS_MAX];
	uint64_t *t[COMMANDS_MAX];
	long n = argc > 2 ? atol(argv[1]) : 0;
	int commands = 0, i;
	long k;

	for (i = 2; i < argc && commands < COMMANDS_MAX; i++) {
		command[commands] = argv + i;
		t[commands] = calloc((size_t)n, sizeof **t);
		if (!t[commands++])
			return 1;
		while (i < argc && strcmp(argv[i], "---"))
			i++;
		if (i < argc)
			argv[i] = NULL;
	}
	for (k = 0; k < n; k++)
		for (i = 0; i < commands; i++)
			t[i][k] = once(command[i]);
	for (i = 0; i < commands; i++) {
		for (k = 0; k < n; k++)
			printf("%llu ", (unsigned long long)t[i][k]);
		printf("\n");
	}
	return 0;
}

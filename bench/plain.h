/* What a jail is compared with: a command started and waited for. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#define REST_NS 5000000

extern char **environ;

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* So that what the kernel does after an end falls into no measurement. */
static inline void rest(void)
{
	const struct timespec t = {0, REST_NS};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Nanoseconds until it has ended. */
static inline uint64_t plain(char **argv)
{
	posix_spawn_file_actions_t a;
	int status = -1;
	uint64_t from;
	pid_t pid;

	rest();
	from = now_ns();
	if (posix_spawn_file_actions_init(&a) ||
	    posix_spawn_file_actions_addopen(&a, 1, "/dev/null", O_WRONLY, 0) ||
	    posix_spawnp(&pid, argv[0], &a, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "bench: %s failed\n", argv[0]);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&a);
	return now_ns() - from;
}

#endif

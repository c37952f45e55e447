#include "broker/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

#define CHUNK ((size_t)256 << 10)

int copy_read(int stage, void *p, size_t n, uint64_t at)
{
	char *to = p;

	while (n) {
		ssize_t got = pread(stage, to, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got) {
			errno = EIO;
			return -1;
		}
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

int copy_exact(int stage, int fd, uint64_t bytes, struct board *board,
	       uint8_t ret_sha256[HASH_BYTES])
{
	size_t room = bytes < CHUNK ? (size_t)bytes : CHUNK;
	CLEANUP_FREE char *p = malloc(room ? room : 1);
	uint8_t sha256[HASH_BYTES];
	struct hash h;
	uint64_t at;

	if (!p)
		return -1;
	hash_init(&h);
	for (at = 0; at < bytes;) {
		size_t n = bytes - at < room ? (size_t)(bytes - at) : room;

		if (copy_read(stage, p, n, at) || fd_write_all(fd, p, n))
			return -1;
		hash_add(&h, p, n);
		at += n;
		board_beat(board);
	}
	hash_end(&h, sha256);
	for (at = 0; at < HASH_BYTES; at++)
		ret_sha256[at] = sha256[at];
	return 0;
}

static void set_of_one(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGXFSZ);
}

void copy_guard_begin(struct copy_guard *g)
{
	sigset_t set, pending;

	set_of_one(&set);
	sigpending(&pending);
	g->pending = sigismember(&pending, SIGXFSZ) == 1;
	pthread_sigmask(SIG_BLOCK, &set, &g->before);
}

void copy_guard_end(const struct copy_guard *g)
{
	struct timespec none = {0};
	sigset_t set;

	set_of_one(&set);
	while (!g->pending && sigtimedwait(&set, NULL, &none) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

#include "broker/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define WHERE "policy"
#define CHUNK ((size_t)256 << 10)
#define NOEXEC_SEAL 8U /* MFD_NOEXEC_SEAL of Linux 6.3; older headers lack it */

static int64_t to_ns(struct timespec t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t.tv_sec, 1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t.tv_nsec, &ns))
		return t.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

struct content_id content_id(const struct stat *st)
{
	return (struct content_id){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = to_ns(st->st_mtim),
		.ctime_ns = to_ns(st->st_ctim),
	};
}

bool content_same(const struct content_id *a, const struct content_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns;
}

static int copy_open(void)
{
	int fd = memfd_create("redoma-content", MFD_CLOEXEC |
					MFD_ALLOW_SEALING | NOEXEC_SEAL);

	/* Before Linux 6.3 the flag is unknown. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("redoma-content",
				  MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd_lift(fd);
}

/* The copy has the file's times: those of copying would tell the hour. */
static int copy_seal(int fd, const struct stat *st)
{
	struct timespec times[2] = {st->st_atim, st->st_mtim};

	if (futimens(fd, times) || lseek(fd, 0, SEEK_SET))
		return -1;
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK |
					      F_SEAL_GROW | F_SEAL_WRITE);
}

/* The pass over the file: [at, end) is read; what lies in the window goes to
 * `copy`, all of it to `h`. */
struct pass {
	int fd, copy;	/* copy -1: none */
	struct hash *h; /* or NULL */
	uint64_t at, end;
	uint64_t first, stop; /* window [first, stop) */
	const char *name;
	struct board *board;
	char *chunk;
};

static int use_chunk(const struct pass *p, size_t n, struct redoma_error *err)
{
	uint64_t from = p->at > p->first ? p->at : p->first;
	uint64_t to = p->at + n < p->stop ? p->at + n : p->stop;

	if (p->h)
		hash_add(p->h, p->chunk, n);
	if (p->copy >= 0 && from < to &&
	    fd_write_all(p->copy, p->chunk + (from - p->at),
			 (size_t)(to - from)))
		return err_sys(err, WHERE, "copy %s into memory",
			       SHOW(str_of(p->name)));
	return 0;
}

static int run_pass(struct pass *p, struct redoma_error *err)
{
	while (p->at < p->end) {
		uint64_t left = p->end - p->at;
		ssize_t n = pread(p->fd, p->chunk,
				  left < CHUNK ? (size_t)left : CHUNK,
				  (off_t)p->at);
		int e;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, WHERE, "read %s",
				       SHOW(str_of(p->name)));
		if (!n)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%s: became shorter while it was read; "
				       "try again when nobody writes to it",
				       SHOW(str_of(p->name)));
		e = use_chunk(p, (size_t)n, err);
		if (e)
			return e;
		p->at += (size_t)n;
		board_beat(p->board);
	}
	return 0;
}

static int check_digest(struct hash *h, const struct content_want *want,
			struct redoma_error *err)
{
	char is[HASH_HEX_MAX], should[HASH_HEX_MAX];
	uint8_t got[HASH_BYTES];

	hash_end(h, got);
	if (hash_equal(got, want->sha256, HASH_BYTES))
		return 0;
	hash_hex(got, HASH_BYTES, is);
	hash_hex(want->sha256, HASH_BYTES, should);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s: sha256 is %s, the policy says %.16s...; if that "
		       "is meant, write the new one",
		       SHOW(str_of(want->name)), is, should);
}

static int check_unchanged(int fd, const struct content_id *before,
			   const char *name, struct redoma_error *err)
{
	struct content_id after;
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(err, WHERE, "fstat %s", SHOW(str_of(name)));
	after = content_id(&st);
	if (content_same(before, &after))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s: changed while it was read; try again when nobody "
		       "writes to it",
		       SHOW(str_of(name)));
}

static int read_through(struct pass *p, const struct content_want *want,
			const struct content_id *id, struct redoma_error *err)
{
	CLEANUP_FREE char *chunk = malloc(CHUNK);
	struct hash h;
	int e;

	if (!chunk)
		return err_nomem(err, WHERE);
	p->chunk = chunk;
	p->name = want->name;
	p->board = want->board;
	if (want->sha256) {
		hash_init(&h);
		p->h = &h;
	}
	e = run_pass(p, err);
	if (!e && want->sha256)
		e = check_digest(&h, want, err);
	/* A digest that fits needs no more; a range of a moving file does. */
	if (!e && (p->copy < 0 || !want->sha256))
		e = check_unchanged(p->fd, id, want->name, err);
	return e;
}

int content_pin(int fd, const struct stat *st, const struct content_want *want,
		struct content *ret, struct redoma_error *err)
{
	uint64_t size = (uint64_t)st->st_size;
	uint64_t first = want->first < size ? want->first : size;
	uint64_t stop = want->last < size ? want->last + 1 : size;
	uint64_t len = stop > first ? stop - first : 0;
	CLEANUP_FD int copy = -1;
	struct content_id id = content_id(st);
	struct pass p = {.fd = fd, .copy = -1, .first = first, .stop = stop};
	int e;

	if (len <= CONTENT_COPY_MAX) {
		copy = copy_open();
		if (copy < 0)
			return err_sys(err, WHERE, "make a memory file");
		p.copy = copy;
	}
	p.at = want->sha256 ? 0 : first;
	p.end = want->sha256 ? size : stop;
	if (p.copy >= 0 || want->sha256) {
		e = read_through(&p, want, &id, err);
		if (e)
			return e;
	}
	if (copy >= 0 && copy_seal(copy, st))
		return err_sys(err, WHERE, "seal a memory file");
	*ret = (struct content){
		.fd = -1,
		.first = copy >= 0 ? 0 : first,
		.len = len,
		.watched = copy < 0 && want->sha256,
		.id = id,
	};
	ret->fd = TAKE_FD(copy);
	return 0;
}

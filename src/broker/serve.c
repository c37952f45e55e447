#include "broker/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "broker/denial.h"
#include "broker/handle.h"
#include "broker/list.h"
#include "broker/path.h"
#include "broker/resolve.h"
#include "broker/sealed.h"
#include "broker/stage.h"
#include "wire/call.h"

#define WHERE "broker"
/* Stage sizes are summed at every so many creations, and at publishing. */
#define SUM_EVERY 16u

/* One call being answered. */
struct ask {
	struct sealed *s;
	const struct call *call;
	const struct plan_grant *grant;
	struct held *held;
	char path[CALL_PATH_MAX + 1]; /* "." for the grant itself */
	struct answer *answer;
	int fd; /* to be sent; -1 */
};

static int64_t to_ns(struct timespec t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t.tv_sec, 1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t.tv_nsec, &ns))
		return t.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static void set_stat(struct ask *a, const struct stat *st)
{
	a->answer->st = (struct call_stat){
		.type = list_type(st->st_mode),
		.dev = st->st_dev,
		.ino = st->st_ino,
		.nlink = st->st_nlink,
		.size = (uint64_t)st->st_size,
		.atim_ns = to_ns(st->st_atim),
		.mtim_ns = to_ns(st->st_mtim),
		.ctim_ns = to_ns(st->st_ctim),
	};
}

/* Records a refusal that a wider grant would have avoided. */
static int deny(struct ask *a, const char *op, int error)
{
	denial_add(a->s, op, (uint32_t)(a->held - a->s->held), a->call->path,
		   a->call->flags & (CALL_WRITE | CALL_CREATE | CALL_TRUNCATE));
	return error;
}

static int open_beneath(struct ask *a, const char *op, int flags, int *ret)
{
	int fd = fd_open_beneath(a->held->fd, a->path, flags, 0,
				 FD_LINKS_INSIDE);

	if (fd < 0)
		return errno == EXDEV ? deny(a, op, EXDEV) : errno;
	*ret = fd;
	return 0;
}

static bool is_file_grant(const struct ask *a)
{
	return a->grant->kind == GRANT_READ_FILE ||
	       a->grant->kind == GRANT_WRITE_FILE;
}

static int own_fd(const struct ask *a)
{
	return a->held->fd >= 0 && a->grant->kind == GRANT_READ_FILE
		       ? a->held->fd
		       : a->grant->fd;
}

/* The bytes of a read file: its window cut to what the file has now. */
static uint64_t window(const struct held *h, uint64_t size)
{
	uint64_t left = size > h->first ? size - h->first : 0;

	return left < h->len ? left : h->len;
}

static int stat_file(struct ask *a)
{
	struct stat st;

	if (a->call->path.len)
		return ENOTDIR;
	if (fstat(own_fd(a), &st))
		return errno;
	set_stat(a, &st);
	if (a->grant->kind == GRANT_READ_FILE)
		a->answer->st.size = window(a->held, a->answer->st.size);
	return 0;
}

static int stat_write_dir(struct ask *a)
{
	struct stat st;

	if (a->call->path.len && strcmp(a->path, ".") != 0)
		return ENOENT;
	if (fstat(a->held->fd, &st))
		return errno;
	set_stat(a, &st);
	return 0;
}

static int nofollow(const struct ask *a)
{
	return a->call->flags & CALL_NOFOLLOW ? O_NOFOLLOW : 0;
}

static int serve_stat(struct ask *a)
{
	CLEANUP_FD int fd = -1;
	struct stat st;
	int e;

	if (a->call->flags & ~(unsigned)CALL_NOFOLLOW)
		return EINVAL;
	if (is_file_grant(a))
		return stat_file(a);
	if (a->grant->kind == GRANT_WRITE_DIR)
		return stat_write_dir(a);
	e = open_beneath(a, "stat", O_PATH | nofollow(a), &fd);
	if (e)
		return e;
	if (fstat(fd, &st))
		return errno;
	set_stat(a, &st);
	return 0;
}

static int count_open(struct ask *a)
{
	if (!a->held->opens_left)
		return deny(a, "open", EACCES);
	if (a->held->opens_left != UINT64_MAX)
		a->held->opens_left--;
	return 0;
}

static int new_handle(struct ask *a, int *fd, bool stage)
{
	int e = handle_new(a->s, (uint32_t)(a->held - a->s->held), *fd, stage,
			   &a->answer->handle);

	if (!e)
		*fd = -1;
	return e;
}

static int open_file(struct ask *a)
{
	int none = -1;
	int e;

	if (a->call->path.len)
		return ENOTDIR;
	if (!a->grant->via_core)
		return EINVAL;
	if (a->call->flags & CALL_DIRECTORY)
		return ENOTDIR;
	e = stat_file(a);
	if (!e)
		e = count_open(a);
	if (!e)
		e = new_handle(a, &none, false);
	return e;
}

/* Only a regular file may be opened; *ret_dir: a directory, which is not. */
static int may_open(struct ask *a, int fd, bool *ret_dir)
{
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	set_stat(a, &st);
	*ret_dir = S_ISDIR(st.st_mode);
	if (*ret_dir)
		return 0;
	if (S_ISLNK(st.st_mode))
		return ELOOP;
	if (a->call->flags & CALL_DIRECTORY)
		return ENOTDIR;
	if (!S_ISREG(st.st_mode) || resolve_is_proc(fd))
		return deny(a, "open", EACCES);
	return 0;
}

/* Opened twice: the first look does nothing to a device or a FIFO. */
static int open_below(struct ask *a)
{
	CLEANUP_FD int seen = -1;
	CLEANUP_FD int fd = -1;
	bool dir;
	int e = open_beneath(a, "open", O_PATH | nofollow(a), &seen);

	if (!e)
		e = may_open(a, seen, &dir);
	if (e || dir)
		return e;
	e = open_beneath(a, "open",
			 O_RDONLY | O_NONBLOCK | O_NOCTTY | nofollow(a), &fd);
	if (!e)
		e = may_open(a, fd, &dir);
	/* Another name stands there now: as if there never was a file. */
	if (!e && dir)
		e = ENOENT;
	if (!e)
		e = count_open(a);
	if (!e && a->grant->via_core)
		return new_handle(a, &fd, false);
	a->fd = e ? -1 : TAKE_FD(fd);
	return e;
}

static uint64_t stage_bytes(struct sealed *s, uint32_t grant)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < s->n_handles; i++) {
		const struct handle *h = &s->handles[i];
		struct stat st;

		if (h->number && h->stage && h->grant == grant &&
		    !fstat(h->fd, &st))
			sum += (uint64_t)st.st_size;
	}
	return sum;
}

static int open_stage(struct ask *a)
{
	CLEANUP_FD int fd = -1;
	CLEANUP_FD int copy = -1;
	struct stat st;
	int e;

	if (!(a->call->flags & CALL_CREATE) || !(a->call->flags & CALL_WRITE))
		return ENOENT;
	if (a->call->flags & CALL_DIRECTORY)
		return EINVAL;
	e = path_check(a->call->path);
	if (e)
		return e;
	if (a->held->stages >= a->grant->max_files ||
	    (a->held->stages % SUM_EVERY == SUM_EVERY - 1 &&
	     stage_bytes(a->s, (uint32_t)(a->held - a->s->held)) >
		     a->grant->max_bytes))
		return deny(a, "create", EDQUOT);
	fd = stage_open(a->held->fd);
	if (fd < 0 || fstat(fd, &st))
		return errno;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (copy < 0)
		return errno;
	set_stat(a, &st);
	e = new_handle(a, &fd, true);
	if (e)
		return e;
	a->held->stages++;
	a->fd = TAKE_FD(copy);
	return 0;
}

static int serve_open(struct ask *a)
{
	unsigned writing = CALL_WRITE | CALL_CREATE | CALL_EXCLUSIVE |
			   CALL_TRUNCATE;

	if (a->grant->kind == GRANT_WRITE_DIR)
		return open_stage(a);
	if (a->grant->kind == GRANT_WRITE_FILE)
		return EINVAL;
	if (a->call->flags & writing)
		return deny(a, "open", EACCES);
	return a->grant->kind == GRANT_READ_FILE ? open_file(a)
						 : open_below(a);
}

static bool have_scratch(struct sealed *s)
{
	if (!s->scratch)
		s->scratch = malloc(CALL_DATA_MAX);
	return s->scratch;
}

static int serve_list(struct ask *a)
{
	CLEANUP_FD int fd = -1;
	int e;

	if (is_file_grant(a))
		return ENOTDIR;
	if (a->grant->kind == GRANT_WRITE_DIR)
		return strcmp(a->path, ".") ? ENOENT : 0;
	if (!have_scratch(a->s))
		return ENOMEM;
	e = open_beneath(a, "list", O_RDONLY | O_DIRECTORY | O_NONBLOCK, &fd);
	if (e)
		return e;
	return list_read(fd, a->call->offset, a->s->scratch, &a->answer->data,
			 &a->answer->next);
}

static int serve_readlink(struct ask *a)
{
	CLEANUP_FD int fd = -1;
	ssize_t n;
	int e;

	if (is_file_grant(a))
		return EINVAL;
	if (a->grant->kind == GRANT_WRITE_DIR)
		return ENOENT;
	if (!have_scratch(a->s))
		return ENOMEM;
	e = open_beneath(a, "readlink", O_PATH | O_NOFOLLOW, &fd);
	if (e)
		return e;
	n = readlinkat(fd, "", a->s->scratch, CALL_PATH_MAX);
	if (n < 0)
		return errno == ENOENT ? EINVAL : errno;
	/* Where an absolute link points to is a name of the host. */
	if (n > 0 && a->s->scratch[0] == '/')
		return EXDEV;
	a->answer->data = (struct str){a->s->scratch, (size_t)n};
	return 0;
}

/* At most what is left of max_bytes; one byte more tells the end of the file
 * from the end of the grant. */
static int read_counted(struct ask *a, int fd, size_t n, off_t at)
{
	struct held *h = a->held;
	uint64_t left = h->bytes_left;
	ssize_t got;

	if (n > left)
		n = left ? (size_t)left : 1;
	do
		got = pread(fd, a->s->scratch, n, at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	if (got && !left)
		return deny(a, "read", EDQUOT);
	if (left != UINT64_MAX)
		h->bytes_left -= (uint64_t)got;
	a->answer->data = (struct str){a->s->scratch, (size_t)got};
	return 0;
}

static int serve_pread(struct ask *a, const struct handle *h)
{
	const struct call *c = a->call;
	uint64_t n = c->count;

	if (h->stage)
		return EBADF;
	if (!have_scratch(a->s))
		return ENOMEM;
	if (n > CALL_DATA_MAX)
		n = CALL_DATA_MAX;
	if (c->offset >= a->held->len ||
	    c->offset > INT64_MAX - a->held->first - n)
		return 0;
	if (n > a->held->len - c->offset)
		n = a->held->len - c->offset;
	if (!n)
		return 0;
	return read_counted(a, h->fd >= 0 ? h->fd : own_fd(a), (size_t)n,
			    (off_t)(a->held->first + c->offset));
}

static int by_handle(struct ask *a)
{
	struct handle *h = handle_find(a->s, a->call->handle);

	if (!h)
		return EBADF;
	board_at(a->s->board, h->grant);
	a->grant = &a->s->plan.grants[h->grant];
	a->held = &a->s->held[h->grant];
	if (a->call->op == CALL_PREAD)
		return serve_pread(a, h);
	if (h->stage)
		a->held->stages--;
	handle_drop(a->s, h);
	return 0;
}

static int by_grant(struct ask *a)
{
	const struct call *c = a->call;

	if (c->grant >= a->s->plan.n_grants)
		return EBADF;
	board_at(a->s->board, c->grant);
	a->grant = &a->s->plan.grants[c->grant];
	a->held = &a->s->held[c->grant];
	memcpy(a->path, c->path.len ? c->path.p : ".",
	       c->path.len ? c->path.len : 1);
	a->path[c->path.len ? c->path.len : 1] = '\0';
	switch (c->op) {
	case CALL_OPEN:
		return serve_open(a);
	case CALL_STAT:
		return serve_stat(a);
	case CALL_LIST:
		return serve_list(a);
	default:
		return serve_readlink(a);
	}
}

int serve_call(struct sealed *s, const void *body, size_t len,
	       struct buf *reply, int *ret_fd, struct redoma_error *err)
{
	struct answer answer = {0};
	struct call call;
	struct ask a = {.s = s, .call = &call, .answer = &answer, .fd = -1};
	CLEANUP_FD int fd = -1;
	int e = call_decode(body, len, &call, err);

	if (e)
		return e;
	e = call.op == CALL_PREAD || call.op == CALL_CLOSE ? by_handle(&a)
							   : by_grant(&a);
	fd = a.fd;
	if (e)
		answer = (struct answer){.error = e};
	answer.has_fd = fd >= 0;
	buf_clear(reply);
	e = answer_encode(&answer, reply, err);
	if (e)
		return e;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

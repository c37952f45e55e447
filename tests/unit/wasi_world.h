/* A guest without an engine: 128 KiB of memory, a plan, and a core that
 * answers from a temporary folder.  Functions are called by name:
 *	struct world *t = world_new();
 *	world_grant(t, GRANT_READ_DIR, "/data", "in");
 *	world_begin(t);
 *	assert_int_equal(call(t, "fd_close", 3), W_SUCCESS);
 *	world_free(t);
 */
#ifndef TESTS_WASI_WORLD_H
#define TESTS_WASI_WORLD_H

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "wasi/calls.h"

#define WORLD_MEMORY 131072u
#define AT_RET 64u    /* where results go */
#define AT_IOV 128u   /* an io vector */
#define AT_PATH 1024u /* names, up to 8 KiB */
#define AT_PATH2 16384u
#define AT_DATA 32768u

struct world {
	struct wasi *w;
	struct plan plan;
	struct plan_grant grants[16];
	int host_fds[16]; /* of granted directories */
	int fds[16];	  /* of files; each run gets copies */
	struct wasi_host host;
	struct wasi_report report;
	char dir[64];
	int dir_fd;
	uint8_t *memory;
	struct buf out[3];
	uint64_t output_max;
	volatile sig_atomic_t stop;
	uint64_t next_handle, n_opened, n_closed, n_listed;
	uint64_t list_batch;
	bool core_reads; /* open answers without a descriptor */
	int core_fds[4096];
	int stages[64]; /* what host->open(CREATE) gave out, by handle */
};

static inline void world_file(struct world *t, const char *name,
			      const char *text)
{
	int fd = openat(t->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline int world_beneath(const struct world *t, uint32_t grant,
				const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};

	if (t->plan.grants[grant].kind == GRANT_READ_FILE)
		return dup(t->fds[grant]);
	return (int)syscall(SYS_openat2, t->host_fds[grant],
			    *path ? path : ".", &how, sizeof(how));
}

static inline void world_fill_stat(const struct stat *st, struct wasi_stat *ret)
{
	*ret = (struct wasi_stat){
		.type = S_ISDIR(st->st_mode)   ? FILETYPE_DIRECTORY
			: S_ISREG(st->st_mode) ? FILETYPE_REGULAR
			: S_ISLNK(st->st_mode) ? FILETYPE_SYMLINK
					       : FILETYPE_UNKNOWN,
		.dev = st->st_dev,
		.ino = st->st_ino,
		.nlink = st->st_nlink,
		.size = (uint64_t)st->st_size,
		.mtim_ns = st->st_mtim.tv_sec * 1000000000 +
			   st->st_mtim.tv_nsec,
	};
}

static inline int world_write(void *data, int stream, const void *p, size_t n)
{
	struct world *t = data;

	if (t->out[1].len + t->out[2].len + n > t->output_max)
		return EFBIG;
	return buf_add(&t->out[stream], p, n) ? ENOMEM : 0;
}

static inline int world_open(void *data, uint32_t grant, const char *path,
			     unsigned flags, struct wasi_opened *ret)
{
	struct world *t = data;
	struct stat st;
	int fd;

	if (flags & WASI_OPEN_CREATE) {
		fd = memfd_create(path, MFD_CLOEXEC);
		t->stages[t->next_handle % 64] = fd;
		*ret = (struct wasi_opened){.fd = dup(fd),
					    .handle = t->next_handle++};
		t->n_opened++;
		return 0;
	}
	fd = world_beneath(t, grant, path,
			   O_RDONLY |
				   (flags & WASI_OPEN_DIRECTORY ? O_DIRECTORY
								: 0) |
				   (flags & WASI_OPEN_NOFOLLOW ? O_NOFOLLOW : 0));
	if (fd < 0)
		return errno;
	assert_int_equal(fstat(fd, &st), 0);
	*ret = (struct wasi_opened){.fd = fd, .handle = t->next_handle++};
	world_fill_stat(&st, &ret->st);
	if (t->core_reads) {
		t->core_fds[ret->handle % 4096] = fd;
		ret->fd = -1;
	}
	t->n_opened++;
	return 0;
}

static inline int world_stat(void *data, uint32_t grant, const char *path,
			     bool follow, struct wasi_stat *ret)
{
	struct world *t = data;
	int fd = world_beneath(t, grant, path,
			       O_PATH | (follow ? 0 : O_NOFOLLOW));
	struct stat st;

	if (fd < 0)
		return errno;
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	world_fill_stat(&st, ret);
	return 0;
}

static inline int world_readlink(void *data, uint32_t grant, const char *path,
				 struct buf *out)
{
	int fd = world_beneath(data, grant, path, O_PATH | O_NOFOLLOW);
	char target[4096];
	ssize_t n;

	if (fd < 0)
		return errno;
	n = readlinkat(fd, "", target, sizeof(target));
	close(fd);
	if (n < 0)
		return errno == ENOENT ? EINVAL : errno;
	return buf_add(out, target, (size_t)n) ? ENOMEM : 0;
}

static inline int world_list(void *data, uint32_t grant, const char *path,
			     uint64_t at, struct buf *out, uint64_t *ret_next)
{
	struct world *t = data;
	int fd = world_beneath(t, grant, path, O_RDONLY | O_DIRECTORY);
	struct dirent **names;
	int n;

	t->n_listed++;
	if (fd < 0)
		return errno;
	n = scandirat(fd, ".", &names, NULL, alphasort);
	close(fd);
	assert_true(n >= 0);
	/* Positions as a file system has them: large, in no order. */
	at = at ? (UINT64_MAX >> 1) - at : 0;
	*ret_next = 0;
	for (int i = 0; i < n; i++) {
		const struct dirent *d = names[i];
		uint64_t ino = d->d_ino;
		uint8_t type = d->d_type == DT_DIR   ? FILETYPE_DIRECTORY
			       : d->d_type == DT_LNK ? FILETYPE_SYMLINK
						     : FILETYPE_REGULAR;
		uint16_t len = (uint16_t)strlen(d->d_name);

		if ((uint64_t)i >= at + t->list_batch)
			*ret_next = (UINT64_MAX >> 1) - at - t->list_batch;
		else if ((uint64_t)i >= at &&
			 (buf_add(out, &ino, 8) || buf_add(out, &type, 1) ||
			  buf_add(out, &len, 2) ||
			  buf_add(out, d->d_name, len)))
			abort();
	}
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return 0;
}

static inline int world_pread(void *data, uint64_t handle, void *p, size_t n,
			      uint64_t offset, size_t *ret_n)
{
	struct world *t = data;
	ssize_t got = pread(t->core_fds[handle % 4096], p, n, (off_t)offset);

	if (got < 0)
		return errno;
	*ret_n = (size_t)got;
	return 0;
}

static inline int world_close(void *data, uint64_t handle)
{
	struct world *t = data;

	t->n_closed++;
	if (t->core_reads)
		close(t->core_fds[handle % 4096]);
	return 0;
}

static inline struct world *world_new(void)
{
	static char tool[] = "tool", word[] = "a b", zone[] = "TZ=UTC";
	static char *argv[] = {tool, word, NULL};
	static char *env[] = {zone, NULL};
	struct world *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	strcpy(t->dir, "/tmp/wasi-test-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->dir_fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->memory = malloc(WORLD_MEMORY);
	memset(t->memory, 0xa5, WORLD_MEMORY);
	t->output_max = 1 << 20;
	t->list_batch = 3;
	t->next_handle = 1;
	t->plan = (struct plan){
		.limits = {.files = 64},
		.grants = t->grants,
		.argv = argv,
		.env = env,
	};
	t->host = (struct wasi_host){
		.data = t,
		.write = world_write,
		.open = world_open,
		.stat = world_stat,
		.list = world_list,
		.readlink = world_readlink,
		.pread = world_pread,
		.close = world_close,
	};
	assert_int_equal(wasi_new(&t->stop, &t->w, NULL), 0);
	return t;
}

/* A file that is there, or a stage, or a folder, which is made. */
static inline struct plan_grant *world_grant(struct world *t,
					     enum grant_kind kind,
					     const char *guest,
					     const char *name)
{
	uint32_t i = t->plan.n_grants++;
	struct plan_grant *g = &t->grants[i];

	*g = (struct plan_grant){
		.kind = kind,
		.guest = strdup(guest),
		.fd = -1,
		.max_bytes = UINT64_MAX,
		.max_files = 100,
		.last = UINT64_MAX,
		.opens = UINT64_MAX,
	};
	t->host_fds[i] = t->fds[i] = -1;
	if (kind == GRANT_READ_FILE) {
		t->fds[i] = openat(t->dir_fd, name, O_RDONLY | O_CLOEXEC);
	} else if (kind == GRANT_WRITE_FILE) {
		t->fds[i] = memfd_create("stage", MFD_CLOEXEC);
		g->max_bytes = 1000;
	} else if (kind == GRANT_READ_DIR) {
		mkdirat(t->dir_fd, name, 0700);
		t->host_fds[i] = openat(t->dir_fd, name,
					O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(t->host_fds[i] >= 0);
	} else {
		g->max_bytes = 1000;
	}
	return g;
}

static inline void world_begin(struct world *t)
{
	struct redoma_error err = {0};
	int r;

	for (uint32_t i = 0; i < t->plan.n_grants; i++)
		if (t->fds[i] >= 0)
			t->grants[i].fd = fcntl(t->fds[i], F_DUPFD_CLOEXEC, 3);
	r = wasi_begin(t->w, &t->plan, &t->host, "input bytes", 11, &err);

	if (r)
		print_error("%s\n", err.text);
	assert_int_equal(r, 0);
}

static inline void world_end(struct world *t)
{
	wasi_end(t->w, &t->report);
}

static inline void world_free(struct world *t)
{
	char command[96];

	wasi_end(t->w, &t->report);
	wasi_free(t->w);
	for (uint32_t i = 0; i < t->plan.n_grants; i++) {
		free(t->grants[i].guest);
		if (t->fds[i] >= 0)
			close(t->fds[i]);
		if (t->host_fds[i] >= 0)
			close(t->host_fds[i]);
	}
	for (size_t i = 0; i < 64; i++)
		if (t->stages[i])
			close(t->stages[i]);
	buf_done(&t->out[1]);
	buf_done(&t->out[2]);
	snprintf(command, sizeof(command), "rm -rf %s", t->dir);
	assert_int_equal(system(command), 0);
	close(t->dir_fd);
	free(t->memory);
	free(t);
}

static inline const struct call_row *call_row_of(const char *name)
{
	for (size_t i = 0; i < WASI_CALLS; i++)
		if (!strcmp(call_rows[i].name, name))
			return &call_rows[i];
	print_error("no function %s\n", name);
	abort();
}

static inline uint32_t call_args(struct world *t, const char *name,
				 const uint64_t *args)
{
	const struct call_row *row = call_row_of(name);
	struct guest g = {t->memory, WORLD_MEMORY};
	wasmtime_val_raw_t a[9] = {0};

	for (size_t i = 0; row->params[i]; i++) {
		if (row->params[i] == 'I')
			a[i].i64 = (int64_t)args[i];
		else
			a[i].i32 = (int32_t)args[i];
	}
	return row->fn(t->w, &g, a);
}

#define call(t, name, ...)                                    \
	call_args((t), "" name, (const uint64_t[9]){__VA_ARGS__})

static inline uint32_t ret_u32(const struct world *t)
{
	uint32_t v;

	memcpy(&v, t->memory + AT_RET, 4);
	return v;
}

static inline uint64_t ret_u64(const struct world *t, uint32_t at)
{
	uint64_t v;

	memcpy(&v, t->memory + at, 8);
	return v;
}

static inline uint32_t put_name(struct world *t, uint32_t at, const char *name)
{
	size_t n = strlen(name);

	assert_true(n < 12000);
	memcpy(t->memory + at, name, n);
	return (uint32_t)n;
}

/* What open(2) would ask for. */
#define RD (RIGHT_FD_READ | RIGHT_FD_SEEK | RIGHT_FD_TELL | RIGHT_FD_READDIR | \
	    RIGHT_PATH_OPEN | RIGHT_FD_FILESTAT_GET | RIGHT_FD_ADVISE |        \
	    RIGHT_POLL_FD_READWRITE)
#define WR RIGHTS_WRITE

static inline uint32_t open_at(struct world *t, uint32_t dir, const char *name,
			       uint32_t oflags, uint64_t rights)
{
	uint32_t n = put_name(t, AT_PATH, name);

	return call(t, "path_open", dir, LOOKUP_FOLLOW, AT_PATH, n, oflags,
		    rights, RIGHTS_ALL, 0, AT_RET);
}

static inline uint32_t must_open(struct world *t, const char *name,
				 uint32_t oflags, uint64_t rights)
{
	uint32_t e = open_at(t, 3, name, oflags, rights);

	if (e)
		print_error("open %s: %u\n", name, e);
	assert_int_equal(e, W_SUCCESS);
	return ret_u32(t);
}

static inline uint32_t iov(struct world *t, uint32_t at, uint32_t len)
{
	memcpy(t->memory + AT_IOV, &at, 4);
	memcpy(t->memory + AT_IOV + 4, &len, 4);
	return AT_IOV;
}

static inline uint32_t write_text(struct world *t, uint32_t fd,
				  const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	memcpy(t->memory + AT_DATA, text, n);
	return call(t, "fd_write", fd, iov(t, AT_DATA, n), 1, AT_RET);
}

/* What is read, as text. */
static inline const char *read_text(struct world *t, uint32_t fd, uint32_t max)
{
	uint32_t e = call(t, "fd_read", fd, iov(t, AT_DATA, max), 1, AT_RET);

	if (e)
		print_error("read: %u\n", e);
	assert_int_equal(e, W_SUCCESS);
	t->memory[AT_DATA + ret_u32(t)] = '\0';
	return (const char *)t->memory + AT_DATA;
}

static inline uint32_t path_call(struct world *t, const char *function,
				 const char *name)
{
	uint64_t args[9] = {3, AT_PATH, put_name(t, AT_PATH, name)};

	return call_args(t, function, args);
}

static inline uint32_t stat_at(struct world *t, const char *name,
			       uint32_t lookup)
{
	uint32_t n = put_name(t, AT_PATH, name);

	return call(t, "path_filestat_get", 3, lookup, AT_PATH, n, AT_RET);
}

static inline uint32_t rename_to(struct world *t, const char *from,
				 const char *to)
{
	uint32_t n = put_name(t, AT_PATH, from);
	uint32_t m = put_name(t, AT_PATH2, to);

	return call(t, "path_rename", 3, AT_PATH, n, 3, AT_PATH2, m);
}

static inline uint32_t link_to(struct world *t, const char *from,
			       const char *to)
{
	uint32_t n = put_name(t, AT_PATH, from);
	uint32_t m = put_name(t, AT_PATH2, to);

	return call(t, "path_link", 3, 0, AT_PATH, n, 3, AT_PATH2, m);
}

static inline uint32_t symlink_to(struct world *t, const char *target,
				  const char *name)
{
	uint32_t n = put_name(t, AT_PATH, target);
	uint32_t m = put_name(t, AT_PATH2, name);

	return call(t, "path_symlink", AT_PATH, n, 3, AT_PATH2, m);
}

/* True if the run noted this refusal. */
static inline bool was_denied(const struct world *t, const char *op,
			      const char *path)
{
	const struct wasi_report *r = &t->w->report;

	for (size_t i = 0; i < r->n_denials; i++)
		if (!strcmp(r->denials[i].op, op) &&
		    !strcmp(r->denials[i].path, path))
			return true;
	return false;
}

/* Names of a directory, each followed by a space, in the order given. */
static inline const char *list_dir(struct world *t, uint32_t fd, uint32_t room)
{
	static char names[8192];
	uint64_t cookie = 0;
	size_t used = 0;

	names[0] = '\0';
	for (int turn = 0; turn < 1000; turn++) {
		uint32_t e = call(t, "fd_readdir", fd, AT_DATA, room, cookie,
				  AT_RET);
		uint32_t n = ret_u32(t), at = 0;

		if (e)
			print_error("readdir: %u\n", e);
		assert_int_equal(e, W_SUCCESS);
		while (n - at >= SIZE_DIRENT) {
			const uint8_t *p = t->memory + AT_DATA + at;
			uint32_t len;

			memcpy(&len, p + 16, 4);
			if (n - at - SIZE_DIRENT < len)
				break;
			memcpy(&cookie, p, 8);
			assert_true(p[20] == FILETYPE_DIRECTORY ||
				    p[20] == FILETYPE_REGULAR ||
				    p[20] == FILETYPE_SYMLINK);
			assert_int_equal(p[21] | p[22] | p[23], 0);
			memcpy(names + used, p + SIZE_DIRENT, len);
			used += len;
			names[used++] = ' ';
			names[used] = '\0';
			at += SIZE_DIRENT + len;
		}
		if (n < room)
			return names;
		assert_true(at > 0);
	}
	fail();
	return NULL;
}

#endif

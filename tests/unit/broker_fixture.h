/* A directory of our own and policies made by hand, for the tests of broker/. */
#ifndef UNIT_BROKER_FIXTURE_H
#define UNIT_BROKER_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "broker/seal.h"
#include "broker/serve.h"
#include "policy/policy.h"
#include "wire/call.h"

#define UNUSED __attribute__((unused))
#define GRANTS 8

struct place {
	char path[64];
	int dir;
	struct policy policy;
	struct grant grants[GRANTS];
	struct sealed *sealed;
	struct redoma_error err;
	struct buf reply;
};

static UNUSED void put_bytes(int dir, const char *name, const void *p,
			     size_t n)
{
	CLEANUP_FD int fd = openat(dir, name,
				   O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC,
				   0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, p, n), 0);
}

static UNUSED void put_file(int dir, const char *name, const char *text)
{
	put_bytes(dir, name, text, strlen(text));
}

/* The text of dir/name, or NULL if it is not there; free it. */
static UNUSED char *get_file(int dir, const char *name)
{
	CLEANUP_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	struct buf b = {0};

	if (fd < 0)
		return NULL;
	assert_int_equal(fd_read_all(fd, 64 << 20, name, &b, NULL), 0);
	return buf_take(&b);
}

static UNUSED void assert_file(int dir, const char *name, const char *text)
{
	CLEANUP_FREE char *is = get_file(dir, name);

	assert_non_null(is);
	assert_string_equal(is, text);
}

static UNUSED void assert_no_file(int dir, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(errno, ENOENT);
}

static int remove_one(const char *path, const struct stat *st, int kind,
		      struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static UNUSED int set_up(void **state)
{
	struct place *p = calloc(1, sizeof *p);

	strcpy(p->path, "/tmp/redoma-broker-XXXXXX");
	if (!mkdtemp(p->path))
		return -1;
	p->dir = open(p->path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	p->policy = (struct policy){
		.base_dir = p->path,
		.grants = p->grants,
		.limits = {.wall_us = 1000000,
			   .cpu_us = 7,
			   .memory_bytes = 1 << 20,
			   .output_bytes = 1 << 20,
			   .calls = 256,
			   .in_flight = 32,
			   .files = 8},
	};
	*state = p;
	return p->dir < 0;
}

static UNUSED int tear_down(void **state)
{
	struct place *p = *state;

	seal_close(p->sealed);
	buf_done(&p->reply);
	close(p->dir);
	nftw(p->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(p);
	return 0;
}

/* The next grant, with nothing set but its names. */
static UNUSED struct grant *grant(struct place *p, enum grant_kind kind,
				  const char *host, const char *guest)
{
	struct grant *g = &p->grants[p->policy.n_grants++];

	assert_true(p->policy.n_grants <= GRANTS);
	*g = (struct grant){.kind = kind,
			    .host = (char *)host,
			    .guest = (char *)guest,
			    .max_bytes = POLICY_UNSET,
			    .max_files = POLICY_UNSET,
			    .last = POLICY_UNSET,
			    .opens = POLICY_UNSET};
	return g;
}

static UNUSED void seal_ok(struct place *p)
{
	seal_close(p->sealed);
	p->sealed = NULL;
	if (seal_open(&p->policy, &p->sealed, &p->err))
		fail_msg("not sealed: %s", p->err.text);
}

/* Sealing fails, and its sentence has `part` in it. */
static UNUSED void seal_fails(struct place *p, const char *part)
{
	struct sealed *s = NULL;

	memset(&p->err, 0, sizeof p->err);
	assert_true(seal_open(&p->policy, &s, &p->err) < 0);
	assert_null(s);
	if (!strstr(p->err.text, part))
		fail_msg("\"%s\" has no \"%s\"", p->err.text, part);
	assert_true(strlen(p->err.text) < sizeof p->err.text - 1);
}

/* Asks as a worker would; a descriptor that comes goes to *ret_fd. */
static UNUSED struct answer ask(struct place *p, struct call c, int *ret_fd)
{
	CLEANUP(buf_done) struct buf body = {0};
	CLEANUP_FD int fd = -1;
	struct answer a;

	assert_int_equal(call_encode(&c, &body, NULL), 0);
	assert_int_equal(serve_call(p->sealed, body.data, body.len, &p->reply,
				    &fd, &p->err),
			 0);
	assert_int_equal(answer_decode(p->reply.data, p->reply.len, &a, NULL),
			 0);
	assert_int_equal(a.has_fd, fd >= 0);
	if (ret_fd)
		*ret_fd = TAKE_FD(fd);
	return a;
}

static UNUSED struct answer ask_open(struct place *p, uint32_t g,
				     const char *path, unsigned flags,
				     int *ret_fd)
{
	return ask(p,
		   (struct call){.op = CALL_OPEN,
				 .grant = g,
				 .flags = flags,
				 .path = str_of(path)},
		   ret_fd);
}

static UNUSED struct answer ask_path(struct place *p, enum call_op op,
				     uint32_t g, const char *path)
{
	return ask(p,
		   (struct call){.op = op, .grant = g, .path = str_of(path)},
		   NULL);
}

static UNUSED struct answer ask_pread(struct place *p, uint64_t handle,
				      uint32_t n, uint64_t offset)
{
	return ask(p,
		   (struct call){.op = CALL_PREAD,
				 .handle = handle,
				 .count = n,
				 .offset = offset},
		   NULL);
}

/* The descriptors that this process has open. */
static UNUSED int count_fds(void)
{
	int n = 0, i;

	for (i = 0; i < 1024; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

#endif

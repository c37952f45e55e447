/* The core's side of a spawner, for tests: one redoma-init over a socket. */
#ifndef NATIVE_CORE_H
#define NATIVE_CORE_H

#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "jail/jail.h"
#include "jail/native.h"
#include "wire/call.h"
#include "wire/failed.h"
#include "wire/native.h"
#include "wire/outcome.h"
#include "wire/plan_wire.h"

#define CORE_WAIT_US 20000000u
#define CORE_SLOTS 32
#define CORE_TEXT 65536

struct core_slot {
	uint32_t number;
	int sock, pidfd;
	pid_t pid;
	bool dead;
	struct native_dead death;
};

struct core {
	pid_t pid; /* of the spawner */
	struct channel *c;
	struct native_setup setup;
	struct spawn_ready ready;
	struct core_slot slots[CORE_SLOTS]; /* number 0: free */
	struct native_admitted admitted;
	int admitted_fds[8];
	struct redoma_error failed;
	bool gone; /* end of file */
	unsigned uid; /* to start as; 0: as we are */
};

/* What a run came to. */
struct core_run {
	struct plan plan;
	struct plan_grant grants[4];
	uint64_t pids;
	const char *source, *input;
	size_t input_len;
	/* Results. */
	char out[CORE_TEXT], err[CORE_TEXT], value[CORE_TEXT];
	size_t n_out, n_err, n_value;
	struct outcome o;
	struct buf o_bytes;
	bool has_outcome, was_cut;
	struct redoma_error failed;
	int stages[8];
	uint32_t n_stages;
	struct native_dead death;
};

static const struct native_item core_root[] = {
	{NATIVE_DIR, 1, "/usr", "/usr"},
	{NATIVE_LINK, 0, "/bin", "usr/bin"},
	{NATIVE_LINK, 0, "/lib", "usr/lib"},
	{NATIVE_LINK, 0, "/lib64", "usr/lib64"},
	{NATIVE_TEXT, 0, "/etc/hostname", "redoma\n"},
	{NATIVE_EMPTY, 0, "/data", ""},
	{NATIVE_EMPTY, 0, "/out", ""},
};

static inline void core_exec(int sock, unsigned uid)
{
	char *argv[] = {(char *)"redoma-spawner", NULL};
	char *env[] = {NULL};

	if (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
		    setresuid(uid, uid, uid)))
		_exit(126);
	dup2(sock, 100);
	dup2(100, 3);
	close_range(4, ~0U, 0);
	execve(TEST_BUILD "/redoma-init", argv, env);
	_exit(127);
}

static inline void core_send_setup(struct core *k,
				   const struct native_item *items, size_t n)
{
	struct buf b = {0};

	assert_int_equal(channel_put(k->c, FRAME_SPAWN, &k->setup,
				     sizeof k->setup, 0, NULL),
			 0);
	assert_int_equal(native_root_encode(items, n, &b, NULL), 0);
	assert_int_equal(channel_put(k->c, FRAME_ROOT, b.data, b.len, 0, NULL),
			 0);
	assert_int_equal(channel_flush(k->c, NULL, 0, NULL), 0);
	buf_done(&b);
}

static inline struct native_setup core_setup(void)
{
	return (struct native_setup){.abi = NATIVE_ABI,
				     .park = 1,
				     .tmp_bytes = 16 << 20,
				     .memory_bytes = 256 << 20,
				     .pids = 64,
				     .program = "/usr/bin/sh"};
}

static inline struct core_slot *core_free_slot(struct core *k)
{
	for (size_t i = 0; i < CORE_SLOTS; i++)
		if (!k->slots[i].number)
			return &k->slots[i];
	fail_msg("no slot is free");
	return NULL;
}

static inline struct core_slot *core_find(struct core *k, uint32_t number)
{
	for (size_t i = 0; i < CORE_SLOTS; i++)
		if (k->slots[i].number == number)
			return &k->slots[i];
	return NULL;
}

static inline void core_born(struct core *k, const void *body, size_t len)
{
	struct core_slot *s = core_free_slot(k);
	struct spawn_born b;

	assert_int_equal(len, sizeof b);
	memcpy(&b, body, sizeof b);
	*s = (struct core_slot){.number = b.slot,
				.pid = b.pid,
				.sock = channel_take_fd(k->c),
				.pidfd = channel_take_fd(k->c)};
	assert_true(s->sock >= 0 && s->pidfd >= 0);
	k->ready = b.ready;
}

static inline void core_died(struct core *k, const void *body, size_t len)
{
	struct native_dead d;
	struct core_slot *s;

	assert_int_equal(len, sizeof d);
	memcpy(&d, body, sizeof d);
	s = core_find(k, d.end.slot);
	if (!s)
		return;
	s->dead = true;
	s->death = d;
}

static inline void core_admitted(struct core *k, const void *body, size_t len,
				 uint32_t n_fds)
{
	assert_int_equal(len, sizeof k->admitted);
	memcpy(&k->admitted, body, len);
	assert_true(n_fds <= 8);
	for (uint32_t i = 0; i < n_fds; i++)
		k->admitted_fds[i] = channel_take_fd(k->c);
}

/* One frame of the spawner, which is still running if it has none. */
static inline int core_hear(struct core *k, uint64_t wait_us)
{
	struct frame f;
	const void *body;
	int r = channel_recv(k->c, wait_us, &f, &body, NULL);

	if (r == REDOMA_E_WORKER)
		k->gone = true;
	if (r)
		return r;
	switch (f.kind) {
	case FRAME_BORN:
		core_born(k, body, f.len);
		break;
	case FRAME_DEAD:
		core_died(k, body, f.len);
		break;
	case FRAME_ADMITTED:
		core_admitted(k, body, f.len, f.n_fds);
		break;
	case FRAME_FAILED:
		assert_true(failed_read(body, f.len, &k->failed) < 0);
		break;
	case FRAME_READY:
		memcpy(&k->ready, body, sizeof k->ready);
		break;
	default:
		fail_msg("a frame of kind %u", f.kind);
	}
	return 0;
}

/* 0, or what it failed with. */
static inline int core_start_with(struct core *k,
				  const struct native_item *items, size_t n)
{
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv),
			 0);
	k->pid = fork();
	assert_true(k->pid >= 0);
	if (!k->pid)
		core_exec(sv[1], k->uid);
	close(sv[1]);
	k->c = malloc(sizeof *k->c);
	channel_init(k->c, sv[0]);
	core_send_setup(k, items, n);
	while (!k->ready.abi && !k->failed.code && !k->gone)
		assert_int_not_equal(core_hear(k, CORE_WAIT_US),
				     REDOMA_E_BUSY);
	return k->failed.code;
}

static inline void core_start(struct core *k)
{
	int r = core_start_with(k, core_root,
				sizeof core_root / sizeof *core_root);

	if (r)
		print_message("# %s\n", k->failed.text);
	assert_int_equal(r, 0);
}

static inline void core_drop(struct core_slot *s)
{
	close(s->sock);
	close(s->pidfd);
	*s = (struct core_slot){0};
}

/* The exit status of the spawner. */
static inline int core_stop(struct core *k)
{
	int status;

	shutdown(k->c->fd, SHUT_RDWR);
	assert_int_equal(waitpid(k->pid, &status, 0), k->pid);
	for (size_t i = 0; i < CORE_SLOTS; i++)
		if (k->slots[i].number)
			core_drop(&k->slots[i]);
	close(k->c->fd);
	channel_done(k->c);
	free(k->c);
	return status;
}

/* False, and said so: there are no native jails for this user here. */
static inline bool core_can(void)
{
	struct core k = {.setup = core_setup()};
	int r = core_start_with(&k, core_root,
				sizeof core_root / sizeof *core_root);

	core_stop(&k);
	if (r != REDOMA_E_UNSUPPORTED || !getuid())
		return true;
	puts("1..0 # skip no cgroup that this process may use");
	return false;
}

/* A parked jail; NULL if one failed to be born. */
static inline struct core_slot *core_take(struct core *k)
{
	k->failed.code = 0;
	for (;;) {
		for (size_t i = 0; i < CORE_SLOTS; i++)
			if (k->slots[i].number && !k->slots[i].dead)
				return &k->slots[i];
		if (k->failed.code || k->gone)
			return NULL;
		assert_int_equal(core_hear(k, CORE_WAIT_US), 0);
	}
}

/* Machines that are emulated are slow. */
static inline uint64_t core_wall_us(void)
{
	return getenv("REDOMA_SLOW") ? 60000000 : 5000000;
}

static inline void core_run_init(struct core_run *r)
{
	*r = (struct core_run){
		.plan = {.limits = {.wall_us = core_wall_us(),
				    .cpu_us = 5000000,
				    .memory_bytes = 64 << 20,
				    .output_bytes = 32768,
				    .calls = 1,
				    .in_flight = 1,
				    .files = 64},
			 .grants = r->grants},
		.pids = 32,
		.input = ""};
}

/* Asks for the mounts of read grants, which then stand in the plan. */
static inline int core_admit(struct core *k, const struct core_slot *s,
			     struct core_run *r)
{
	struct native_admit a = {.slot = s->number,
				 .memory_bytes = r->plan.limits.memory_bytes,
				 .pids = r->pids};
	uint32_t at, i;
	int fds[4];

	for (i = 0; i < r->plan.n_grants; i++)
		if (r->grants[i].kind <= GRANT_READ_DIR &&
		    !r->grants[i].via_core)
			fds[a.n_grants++] = r->grants[i].fd;
	k->admitted = (struct native_admitted){0};
	assert_int_equal(channel_send_fds(k->c, FRAME_ADMIT, &a, sizeof a, fds,
					  a.n_grants, NULL),
			 0);
	while (k->admitted.slot != s->number && !k->gone)
		assert_int_not_equal(core_hear(k, CORE_WAIT_US),
				     REDOMA_E_BUSY);
	if (k->gone || k->admitted.rc)
		return k->gone ? REDOMA_E_WORKER : k->admitted.rc;
	at = k->admitted.has_cpu;
	for (i = 0; i < r->plan.n_grants; i++)
		if (r->grants[i].kind <= GRANT_READ_DIR &&
		    !r->grants[i].via_core) {
			close(r->grants[i].fd);
			r->grants[i].fd = k->admitted_fds[at++];
		}
	if (k->admitted.has_cpu)
		close(k->admitted_fds[0]);
	return 0;
}

static inline int core_send_run(struct channel *c, const struct core_run *r)
{
	struct buf b = {0};
	int fds[FRAME_FDS_MAX], e;
	size_t n = 0;

	c->run = 0x1234567890abcdef;
	e = plan_encode(&r->plan, &b, fds, &n, NULL);
	assert_int_equal(e, 0);
	e = channel_put(c, FRAME_PLAN, b.data, b.len, n, NULL);
	if (!e)
		e = channel_put(c, FRAME_NAME, "agent", 5, 0, NULL);
	if (!e && r->source)
		e = channel_put(c, FRAME_SOURCE, r->source, strlen(r->source),
				0, NULL);
	if (!e)
		e = channel_put(c, FRAME_INPUT, r->input, r->input_len, 0,
				NULL);
	if (!e)
		e = channel_flush(c, fds, n, NULL);
	buf_done(&b);
	return e;
}

static inline void core_keep(char *to, size_t *n, const void *p, size_t len)
{
	if (len > CORE_TEXT - 1 - *n)
		len = CORE_TEXT - 1 - *n;
	memcpy(to + *n, p, len);
	*n += len;
}

/* Every file asked for gets a stage. */
static inline void core_answer(struct channel *c, struct core_run *r,
			       const void *body, size_t len)
{
	char name[] = "/dev/shm/stage-XXXXXX";
	struct answer a = {.has_fd = true, .handle = 100 + r->n_stages};
	struct buf b = {0};
	struct call call;
	int fd;

	assert_int_equal(call_decode(body, len, &call, NULL), 0);
	assert_int_equal(call.op, CALL_OPEN);
	fd = mkostemp(name, O_CLOEXEC);
	assert_true(fd >= 0 && r->n_stages < 8);
	unlink(name);
	r->stages[r->n_stages++] = fd;
	assert_int_equal(answer_encode(&a, &b, NULL), 0);
	assert_int_equal(channel_send_fds(c, FRAME_ANSWER, b.data, b.len, &fd,
					  1, NULL),
			 0);
	buf_done(&b);
}

static inline bool core_take_frame(struct channel *c, struct core_run *r,
				   const struct frame *f, const void *body)
{
	switch (f->kind) {
	case FRAME_OUT:
		core_keep(r->out, &r->n_out, body, f->len);
		return false;
	case FRAME_ERR:
		core_keep(r->err, &r->n_err, body, f->len);
		return false;
	case FRAME_VALUE:
		core_keep(r->value, &r->n_value, body, f->len);
		return false;
	case FRAME_CALL:
		core_answer(c, r, body, f->len);
		return false;
	case FRAME_OUTCOME:
		assert_int_equal(buf_add(&r->o_bytes, body, f->len), 0);
		if (!(f->flags & FRAME_LAST))
			return false;
		assert_int_equal(outcome_decode(r->o_bytes.data,
						r->o_bytes.len, &r->o, NULL),
				 0);
		r->has_outcome = true;
		return true;
	case FRAME_FAILED:
		assert_true(failed_read(body, f->len, &r->failed) < 0);
		return true;
	default:
		fail_msg("a frame of kind %u", f->kind);
	}
	return true;
}

static inline void core_listen(struct core_slot *s, struct core_run *r,
			       struct channel *c)
{
	struct frame f;
	const void *body;
	int e;

	(void)s;
	do {
		e = channel_recv(c, CORE_WAIT_US, &f, &body, NULL);
		if (e) {
			assert_int_equal(e, REDOMA_E_WORKER);
			r->was_cut = true;
			return;
		}
	} while (!core_take_frame(c, r, &f, body));
}

/* The run is over: kills the jail and waits for the word of its death. */
static inline void core_end(struct core *k, struct core_slot *s,
			    struct native_dead *ret)
{
	struct native_end e = {.slot = s->number};

	assert_int_equal(channel_send(k->c, FRAME_END, FRAME_LAST, &e, sizeof e,
				      NULL),
			 0);
	while (!s->dead)
		assert_int_equal(core_hear(k, CORE_WAIT_US), 0);
	*ret = s->death;
	core_drop(s);
}

/* All of it. */
static inline void core_run(struct core *k, struct core_run *r)
{
	struct channel *c = malloc(sizeof *c);
	struct core_slot *s = core_take(k);
	uint32_t i;

	assert_non_null(c);
	if (!s)
		print_message("# %s\n", k->failed.text);
	assert_non_null(s);
	assert_int_equal(core_admit(k, s, r), 0);
	channel_init(c, s->sock);
	if (core_send_run(c, r))
		r->was_cut = true;
	else
		core_listen(s, r, c);
	for (i = 0; i < r->plan.n_grants; i++)
		if (r->grants[i].kind <= GRANT_READ_DIR)
			close(r->grants[i].fd);
	core_end(k, s, &r->death);
	channel_done(c);
	free(c);
	if (r->failed.code)
		print_message("# %s\n", r->failed.text);
	if (r->was_cut)
		print_message("# init: code %d, status %d\n",
			      r->death.end.code, r->death.end.status);
}

static inline void core_run_done(struct core_run *r)
{
	outcome_done(&r->o);
	buf_done(&r->o_bytes);
	for (uint32_t i = 0; i < r->n_stages; i++)
		close(r->stages[i]);
}

/* sh -c script. */
static inline void core_sh(struct core *k, struct core_run *r,
			   const char *script)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	char *env[] = {(char *)"PATH=/usr/bin", NULL};

	r->plan.argv = argv;
	r->plan.env = env;
	core_run(k, r);
	r->plan.argv = r->plan.env = NULL;
}

#endif

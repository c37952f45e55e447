/* A plan crosses as bytes and descriptors, whole or not at all. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "alloc_fail.h"
#include "base/cleanup.h"
#include "wire/plan_wire.h"

static char *argv_full[] = {"prog", "", "arg\xff", NULL};
static char *env_full[] = {"TZ=UTC", NULL};
static char *tools_full[] = {"search", "pay", NULL};

/* Two grants, one with a descriptor. */
static void fill(struct plan *p, struct plan_grant g[2])
{
	g[0] = (struct plan_grant){.kind = GRANT_READ_FILE,
				   .pinned = true,
				   .guest = "/data/a",
				   .fd = 100,
				   .max_bytes = UINT64_MAX,
				   .first = 1,
				   .last = 2,
				   .opens = 3};
	g[1] = (struct plan_grant){.kind = GRANT_WRITE_DIR,
				   .mode = WRITE_CREATE,
				   .via_core = true,
				   .guest = "/",
				   .fd = -1,
				   .max_bytes = 4,
				   .max_files = 5};
	*p = (struct plan){.limits = {1, 2, 0, 4, 5, 6, 7, 8},
			   .grants = g,
			   .n_grants = 2,
			   .argv = argv_full,
			   .env = env_full,
			   .tools = tools_full,
			   .clock = SOURCE_FIXED,
			   .random = SOURCE_NONE,
			   .clock_fixed_ns = -5,
			   .random_seed = 42,
			   .end_on_denied = true};
}

static void encode(const struct plan *p, struct buf *b, int *fds, size_t *n)
{
	struct redoma_error err;

	if (plan_encode(p, b, fds, n, &err))
		fail_msg("%s", err.text);
}

static void round_trip(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP(plan_done) struct plan r = {0};
	int fds[FRAME_FDS_MAX];
	struct plan_grant g[2];
	struct plan p;
	size_t n;
	int fd;

	(void)state;
	fill(&p, g);
	encode(&p, &b, fds, &n);
	assert_int_equal(n, 1);
	assert_int_equal(fds[0], 100);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(plan_decode(b.data, b.len, &fd, 1, &r, NULL), 0);
	assert_memory_equal(&r.limits, &p.limits, sizeof p.limits);
	assert_int_equal(r.n_grants, 2);
	assert_int_equal(r.grants[0].fd, fd);
	assert_int_equal(r.grants[1].fd, -1);
	assert_string_equal(r.grants[0].guest, "/data/a");
	assert_true(r.grants[0].pinned && !r.grants[0].via_core);
	assert_true(r.grants[1].via_core && !r.grants[1].pinned);
	assert_int_equal(r.grants[1].kind, GRANT_WRITE_DIR);
	assert_int_equal(r.grants[1].mode, WRITE_CREATE);
	assert_true(r.grants[0].max_bytes == UINT64_MAX &&
		    r.grants[0].first == 1 && r.grants[0].last == 2 &&
		    r.grants[0].opens == 3 && r.grants[1].max_files == 5);
	assert_string_equal(r.argv[0], "prog");
	assert_string_equal(r.argv[1], "");
	assert_string_equal(r.argv[2], "arg\xff");
	assert_null(r.argv[3]);
	assert_string_equal(r.env[0], "TZ=UTC");
	assert_null(r.env[1]);
	assert_string_equal(r.tools[1], "pay");
	assert_null(r.tools[2]);
	assert_int_equal(r.clock, SOURCE_FIXED);
	assert_int_equal(r.random, SOURCE_NONE);
	assert_int_equal(r.clock_fixed_ns, -5);
	assert_int_equal(r.random_seed, 42);
	assert_true(r.end_on_denied);
}

static void refused(const struct buf *b, size_t len, size_t n_fds)
{
	int fds[2] = {dup(0), dup(0)};
	struct plan r = {.n_grants = 77};
	struct redoma_error err = {0};

	assert_int_equal(plan_decode(b->data, len, fds, n_fds, &r, &err),
			 REDOMA_E_INVALID);
	assert_int_equal(r.n_grants, 77);
	assert_string_equal(err.text, "the plan of the run is malformed");
	/* On failure descriptors stay the caller's. */
	assert_int_equal(close(fds[0]), 0);
	assert_int_equal(close(fds[1]), 0);
}

static void refusals(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	int fds[FRAME_FDS_MAX];
	struct plan_grant g[2];
	struct plan p;
	size_t n, i;

	(void)state;
	fill(&p, g);
	encode(&p, &b, fds, &n);
	for (i = 0; i < b.len; i++)
		refused(&b, i, 1);
	refused(&b, b.len, 0);
	refused(&b, b.len, 2);
	assert_int_equal(buf_add(&b, "", 1), 0);
	refused(&b, b.len, 1);
}

/* One field is out of range; everything else is good. */
static void bad_fields(void **state)
{
	struct plan_grant g[2];
	struct plan p;
	int fds[FRAME_FDS_MAX], i;
	size_t n;

	(void)state;
	for (i = 0; i < 8; i++) {
		CLEANUP(buf_done) struct buf b = {0};

		fill(&p, g);
		switch (i) {
		case 0:
			p.limits.wall_us = 0;
			break;
		case 1:
			p.limits.files = 0;
			break;
		case 2:
			p.clock = 3;
			break;
		case 3:
			p.random = 200;
			break;
		case 4:
			g[0].kind = 4;
			break;
		case 5:
			g[0].mode = 3;
			break;
		case 6:
			g[1].guest = "relative";
			break;
		default:
			g[1].guest = "";
		}
		encode(&p, &b, fds, &n);
		refused(&b, b.len, 1);
	}
}

static void caps(void **state)
{
	static struct plan_grant many[PLAN_GRANTS_MAX + 1];
	static char *names[PLAN_NAMES_MAX + 2];
	static char longest[PLAN_TEXT_MAX + 2];
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;
	struct plan_grant g[2];
	int fds[FRAME_FDS_MAX];
	struct plan p;
	size_t n, i;

	(void)state;
	fill(&p, g);
	memset(longest, 'x', PLAN_TEXT_MAX + 1);
	for (i = 0; i <= PLAN_NAMES_MAX; i++)
		names[i] = "x";
	p.argv = names;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), REDOMA_E_INVALID);
	names[PLAN_NAMES_MAX] = NULL;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), 0);
	names[0] = longest;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), REDOMA_E_INVALID);
	longest[PLAN_TEXT_MAX] = '\0';
	for (i = 0; i < 65; i++)
		names[i] = longest;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "over the cap of 4194304"));
	fill(&p, g);
	for (i = 0; i <= PLAN_GRANTS_MAX; i++) {
		many[i] = g[0];
		many[i].fd = -1;
	}
	p.grants = many;
	p.n_grants = PLAN_GRANTS_MAX + 1;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), REDOMA_E_INVALID);
	p.n_grants--;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), 0);
	for (i = 0; i < FRAME_FDS_MAX + 1; i++)
		many[i].fd = 9;
	assert_int_equal(plan_encode(&p, &b, fds, &n, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "253 files"));
}

/* Memory runs out at each allocation in turn: nothing leaks (the build with
 * AddressSanitizer says so) and the descriptors stay the caller's. */
static void no_memory(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	int fds[FRAME_FDS_MAX], fd = dup(0), e = -1;
	struct plan_grant g[2];
	struct plan p, r;
	size_t n;
	long left;

	(void)state;
	fill(&p, g);
	encode(&p, &b, fds, &n);
	for (left = 0; e && left < 100; left++) {
		alloc_left = left;
		e = plan_decode(b.data, b.len, &fd, 1, &r, NULL);
		alloc_left = -1;
		if (e)
			assert_true(fcntl(fd, F_GETFD) >= 0);
	}
	assert_int_equal(e, 0);
	assert_true(left > 7);
	plan_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(refusals),
		cmocka_unit_test(bad_fields),
		cmocka_unit_test(caps),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

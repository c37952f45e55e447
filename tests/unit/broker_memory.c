/* Memory runs out at each allocation in turn: an error, and nothing is left,
 * neither memory (the build with AddressSanitizer says so) nor descriptors nor
 * files. */
#include "alloc_fail.h"
#include "broker_fixture.h"

#include "base/hash.h"
#include "broker/publish.h"

#define MOST 200 /* allocations in one step; more is a loop */

static void grants_of_all_kinds(struct place *p)
{
	struct grant *g;

	put_file(p->dir, "f", "abc");
	assert_int_equal(mkdirat(p->dir, "d", 0700), 0);
	grant(p, GRANT_READ_FILE, "f", "/a");
	g = grant(p, GRANT_READ_FILE, "f", "/b");
	g->has_sha256 = true;
	hash_sha256("abc", 3, g->sha256);
	g->opens = 3;
	grant(p, GRANT_READ_DIR, "d/", "/d");
	g = grant(p, GRANT_WRITE_DIR, "d/", "/w");
	g->max_bytes = 100;
	grant(p, GRANT_WRITE_FILE, "out", "/out")->max_bytes = 100;
}

static void sealing(void **state)
{
	struct place *p = *state;
	int before, e = -1;
	long n;

	grants_of_all_kinds(p);
	before = count_fds();
	for (n = 0; e && n < MOST; n++) {
		struct sealed *s = NULL;

		alloc_left = n;
		e = seal_open(&p->policy, &s, &p->err);
		alloc_left = -1;
		if (e) {
			assert_int_equal(e, REDOMA_E_NOMEM);
			assert_null(s);
		}
		seal_close(s);
		assert_int_equal(count_fds(), before);
	}
	assert_int_equal(e, 0);
	assert_true(n > 10);
}

static void calls(void **state)
{
	static const struct call ask_for[] = {
		{.op = CALL_OPEN, .grant = 1},
		{.op = CALL_LIST, .grant = 2},
		{.op = CALL_OPEN, .grant = 2, .path = STR("../f")},
		{.op = CALL_OPEN, .grant = 3, .flags = CALL_WRITE | CALL_CREATE,
		 .path = STR("x")},
	};
	struct place *p = *state;
	size_t i;

	grants_of_all_kinds(p);
	for (i = 0; i < sizeof ask_for / sizeof *ask_for; i++) {
		CLEANUP(buf_done) struct buf body = {0};
		int before, e = -1;
		long n;

		assert_int_equal(call_encode(&ask_for[i], &body, NULL), 0);
		for (n = 0; n < 8; n++) {
			struct answer a = {.error = 0};
			CLEANUP_FD int fd = -1;

			seal_ok(p);
			before = count_fds();
			buf_done(&p->reply);
			alloc_left = n;
			e = serve_call(p->sealed, body.data, body.len,
				       &p->reply, &fd, &p->err);
			alloc_left = -1;
			if (e)
				assert_int_equal(e, REDOMA_E_NOMEM);
			else
				assert_int_equal(answer_decode(p->reply.data,
							       p->reply.len,
							       &a, NULL),
						 0);
			if (e || a.error) {
				assert_int_equal(fd, -1);
				/* A handle may stay until the end. */
				assert_true(count_fds() <= before + 1);
			}
		}
		assert_int_equal(e, 0);
	}
}

static void publishing(void **state)
{
	struct place *p = *state;
	struct outcome_written w = {.grant = 4};
	struct published_list l = {0};
	int e = -1, tries = 0;
	long n;

	grants_of_all_kinds(p);
	for (n = 0; n < MOST && (e || !l.files[0].published); n++) {
		published_done(&l);
		seal_ok(p);
		assert_int_equal(write(seal_plan(p->sealed)->grants[4].fd,
				       "text", 4),
				 4);
		alloc_left = n;
		e = publish_all(p->sealed, &w, 1, &l, &p->err);
		alloc_left = -1;
		if (e)
			assert_int_equal(e, REDOMA_E_NOMEM);
		if (e || !l.files[0].published)
			assert_no_file(p->dir, "out");
		tries++;
	}
	published_done(&l);
	assert_true(tries > 3);
	assert_file(p->dir, "out", "text");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sealing),
		T(calls),
		T(publishing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

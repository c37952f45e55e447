/* The core's side of calls of tools, with a worker's end of the socket in our
 * hand: what an honest worker sends, and what a turned one does. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "core/desk_state.h"
#include "wire/push.h"
#include "wire/tool.h"

#define V "redoma: 1\n"
#define HELD_MAX 64

struct pair {
	struct channel core, worker;
	struct policy *policy;
	struct desk *desk;
	enum desk_end end;
	bool hold; /* answered later */
	int asked; /* how often on_call was called */
	struct redoma_call *held[HELD_MAX];
	size_t n_held;
	uint32_t number; /* of the last return */
	struct buf said; /* what it says */
};

static void on_call(void *data, struct redoma_call *c)
{
	struct pair *p = data;
	uint64_t n;
	const char *args = redoma_call_args(c, &n);

	p->asked++;
	if (p->hold)
		p->held[p->n_held++] = c;
	else
		assert_int_equal(redoma_answer(c, args, n, NULL), 0);
}

static void open_pair(struct pair *p, const char *policy)
{
	struct desk_want w = {.on_call = on_call, .data = p};
	struct redoma_error err = {0};
	int fds[2];

	memset(p, 0, sizeof *p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    fds), 0);
	channel_init(&p->core, fds[0]);
	channel_init(&p->worker, fds[1]);
	p->core.run = p->worker.run = 42;
	if (policy_parse(policy, strlen(policy), "/", &p->policy, &err))
		fail_msg("%s", err.text);
	w.policy = p->policy;
	assert_int_equal(desk_open(&w, &p->desk, NULL), 0);
}

static void close_pair(struct pair *p)
{
	desk_close(p->desk);
	policy_free(p->policy);
	close(p->core.fd);
	close(p->worker.fd);
	channel_done(&p->core);
	channel_done(&p->worker);
	buf_done(&p->said);
}

/* One frame from the worker, as it stands. */
static enum desk_end raw(struct pair *p, const void *body, size_t len,
			 unsigned flags)
{
	struct frame f = {.flags = (uint16_t)flags, .len = (uint32_t)len};

	assert_int_equal(desk_hear(p->desk, &p->core, &f, body, &p->end, NULL),
			 0);
	return p->end;
}

static enum desk_end call(struct pair *p, uint32_t id, const char *name,
			  const char *args)
{
	char body[600];
	size_t n = sizeof id + strlen(name) + 1 + strlen(args);

	assert_true(n < sizeof body);
	memcpy(body, &id, sizeof id);
	strcpy(body + sizeof id, name);
	memcpy(body + sizeof id + strlen(name) + 1, args, strlen(args));
	return raw(p, body, n, FRAME_LAST);
}

/* The next return as the worker gets it; false: none is there. */
static bool heard(struct pair *p)
{
	uint64_t now = clock_monotonic_us();
	struct frame f;
	const void *body;
	int r = desk_tend(p->desk, &p->core, now, NULL);

	assert_true(!r || r == REDOMA_E_BUSY);
	buf_clear(&p->said);
	do {
		if (channel_recv(&p->worker, 0, &f, &body, NULL))
			return false;
		assert_int_equal(f.kind, FRAME_RETURN);
		assert_int_equal(buf_add(&p->said, body, f.len), 0);
	} while (!(f.flags & FRAME_LAST));
	memcpy(&p->number, p->said.data, sizeof p->number);
	return true;
}

/* The next return is of call `id` and is a failure of that name. */
static void failed(struct pair *p, uint32_t id, const char *name,
		   const char *says)
{
	assert_true(heard(p));
	assert_int_equal(p->number, id);
	assert_int_equal(p->said.data[4], 1);
	assert_string_equal(p->said.data + 5, name);
	if (!strstr(p->said.data + 5 + strlen(name) + 1, says))
		fail_msg("%s", p->said.data + 5 + strlen(name) + 1);
}

static void returned(struct pair *p, uint32_t id, const char *json)
{
	assert_true(heard(p));
	assert_int_equal(p->number, id);
	assert_int_equal(p->said.data[4], 0);
	assert_string_equal(p->said.data + 5, json);
}

static void calls_are_answered(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a, b]");
	assert_int_equal(call(&p, 1, "a", "{\"x\":1}"), DESK_GOES_ON);
	returned(&p, 1, "{\"x\":1}");
	assert_int_equal(call(&p, 2, "b", "{}"), DESK_GOES_ON);
	returned(&p, 2, "{}");
	assert_false(heard(&p));
	close_pair(&p);
}

static void answers_come_in_any_order(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]");
	p.hold = true;
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(call(&p, i, "a", "{}"), DESK_GOES_ON);
	assert_false(heard(&p));
	assert_int_equal(redoma_answer(p.held[2], "3", 1, NULL), 0);
	assert_int_equal(redoma_answer_error(p.held[0], "E", "one", NULL), 0);
	returned(&p, 3, "3");
	failed(&p, 1, "E", "one");
	assert_int_equal(redoma_answer(p.held[1], "2", 1, NULL), 0);
	returned(&p, 2, "2");
	close_pair(&p);
}

/* Each number but the next is no worker of ours. */
static void forged_numbers_break_it(void **state)
{
	static const uint32_t wrong[] = {0, 1, 3, 7, UINT32_MAX};
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		open_pair(&p, V "tools: [a]");
		assert_int_equal(call(&p, 1, "a", "{}"), DESK_GOES_ON);
		assert_int_equal(call(&p, wrong[i], "a", "{}"), DESK_BROKEN);
		assert_int_equal(p.asked, 1);
		close_pair(&p);
	}
	open_pair(&p, V "tools: [a]");
	assert_int_equal(call(&p, 1, "a", "{}"), DESK_GOES_ON);
	assert_int_equal(call(&p, 2, "a", "{}"), DESK_GOES_ON);
	close_pair(&p);
}

static void forged_bodies_break_it(void **state)
{
	static const char long_name[600] = {1, 0, 0, 0, [4 ... 599] = 'n'};
	static const struct {
		const char *p;
		size_t n;
		unsigned flags;
	} rows[] = {
		{"", 0, FRAME_LAST},
		{"\1\0\0", 3, FRAME_LAST},
		{"\1\0\0\0", 4, FRAME_LAST},	 /* no name */
		{"\1\0\0\0name", 8, FRAME_LAST}, /* that does not end */
		{long_name, 600, FRAME_LAST},
		{"", 0, 0}, /* costs nothing, so could go on for ever */
	};
	struct pair p;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_pair(&p, V "tools: [a]");
		assert_int_equal(raw(&p, rows[i].p, rows[i].n, rows[i].flags),
				 DESK_BROKEN);
		assert_int_equal(p.asked, 0);
		close_pair(&p);
	}
}

/* A call in pieces; the longest that may be, and one byte more. */
static void size_is_bounded(void **state)
{
	CLEANUP_FREE char *all = malloc(TOOL_CALL_MAX + 1);
	struct pair p;

	(void)state;
	memset(all, ' ', TOOL_CALL_MAX + 1);
	memcpy(all, "\1\0\0\0a\0{}", 8);
	for (size_t over = 0; over < 2; over++) {
		size_t at = 0, len = TOOL_CALL_MAX + over;
		enum desk_end end = DESK_GOES_ON;

		open_pair(&p, V "tools: [a]");
		while (at < len && end == DESK_GOES_ON) {
			size_t n = len - at < FRAME_BODY_MAX ? len - at
							     : FRAME_BODY_MAX;

			end = raw(&p, all + at, n,
				  at + n == len ? FRAME_LAST : 0);
			at += n;
		}
		assert_int_equal(end, over ? DESK_BROKEN : DESK_GOES_ON);
		assert_int_equal(p.asked, !over);
		close_pair(&p);
	}
}

static void no_more_under_way_than_may_be(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]\nlimits: {in_flight: 2}");
	p.hold = true;
	assert_int_equal(call(&p, 1, "a", "{}"), DESK_GOES_ON);
	assert_int_equal(call(&p, 2, "a", "{}"), DESK_GOES_ON);
	assert_int_equal(call(&p, 3, "a", "{}"), DESK_BROKEN);
	assert_int_equal(p.asked, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(redoma_answer(p.held[i], "1", 1, NULL), 0);
	close_pair(&p);
}

static void calls_are_counted(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]\nlimits: {calls: 2}");
	assert_int_equal(call(&p, 1, "a", "{}"), DESK_GOES_ON);
	assert_int_equal(call(&p, 2, "nope", "{}"), DESK_GOES_ON);
	assert_int_equal(call(&p, 3, "a", "{}"), DESK_LIMIT);
	assert_int_equal(p.asked, 1);
	close_pair(&p);
}

static void one_denial(struct pair *p, const char *name, uint64_t count,
		       const char *allow)
{
	struct redoma_result *r = result_new();

	assert_int_equal(desk_tell(p->desk, r, NULL), 0);
	assert_int_equal(r->n_denials, 1);
	assert_string_equal(r->denials[0].op, "tool");
	assert_string_equal(r->denials[0].path, name);
	assert_int_equal(r->denials[0].count, count);
	assert_string_equal(r->denials[0].allow, allow);
	redoma_result_free(r);
}

static void what_is_not_granted_reaches_nobody(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a, bc]");
	call(&p, 1, "b", "{}");
	failed(&p, 1, "ToolDenied", "the tools of this run are a, bc");
	call(&p, 2, "b", "{}");
	assert_int_equal(p.asked, 0);
	one_denial(&p, "b", 2, "tools: [\"b\"]");
	close_pair(&p);
	/* A name cannot forge a line of the policy. */
	open_pair(&p, V "tools: [a]");
	call(&p, 1, "x\"]\nread: [/etc/", "{}");
	one_denial(&p, "x\"]\nread: [/etc/", 1,
		   "tools: [\"x\\\"]\\nread: [/etc/\"]");
	close_pair(&p);
	open_pair(&p, V "tools: [a]\non_denied: end");
	assert_int_equal(call(&p, 1, "b", "{}"), DESK_DENIED);
	close_pair(&p);
}

static void the_terms_of_a_grant_hold(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [{name: a, max_calls: 1, "
			"where: {n: {maximum: 5}}}]");
	call(&p, 1, "a", "{\"n\":6}");
	failed(&p, 1, "ToolDenied", "maximum 5");
	assert_int_equal(p.asked, 0);
	call(&p, 2, "a", "{\"n\":5}");
	returned(&p, 2, "{\"n\":5}");
	assert_int_equal(call(&p, 3, "a", "{\"n\":5}"), DESK_GOES_ON);
	failed(&p, 3, "ToolDenied", "may be called 1 time");
	assert_int_equal(p.asked, 1);
	close_pair(&p);
	open_pair(&p, V "tools: [{name: a, max_calls: 1, "
			"where: {n: {maximum: 5}}}]");
	call(&p, 1, "a", "{\"n\":5}");
	call(&p, 2, "a", "{\"n\":5}");
	one_denial(&p, "a", 1, "tools: [{name: \"a\", max_calls: 2, "
			       "where: {n: {maximum: 5}}}]");
	close_pair(&p);
}

static void arguments_are_one_object(void **state)
{
	static const char *const wrong[] = {"", "1", "[]", "{} {}", "{'a':1}",
					    "{\"a\":1,\"a\":2}", "\xff",
					    "{\"a\":\"\\ud800\"}"};
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]");
	for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(call(&p, i + 1, "a", wrong[i]), DESK_GOES_ON);
		failed(&p, i + 1, "TypeError", "one JSON object");
	}
	assert_int_equal(p.asked, 0);
	close_pair(&p);
}

/* The caller's own mistakes are told to the caller, and it can do better. */
static void answers_are_checked(void **state)
{
	static const char *const wrong[] = {"", "nope", "1,\"status\":\"ok\"",
					    "{\"a\":1,\"a\":1}", "\"\xff\""};
	CLEANUP_FREE char *big = malloc(2 << 20);
	struct pair p;

	(void)state;
	memset(big, ' ', 2 << 20);
	big[0] = '1';
	open_pair(&p, V "tools: [a]");
	p.hold = true;
	call(&p, 1, "a", "{}");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(redoma_answer(p.held[0], wrong[i],
					       strlen(wrong[i]), NULL),
				 REDOMA_E_INVALID);
	assert_int_equal(redoma_answer(p.held[0], big, 1 << 20, NULL),
			 REDOMA_E_INVALID);
	assert_int_equal(redoma_answer(p.held[0], "1", 1, NULL), 0);
	returned(&p, 1, "1");
	memset(big, 'x', 2 << 20);
	big[(2 << 20) - 1] = '\0';
	call(&p, 2, "a", "{}");
	assert_int_equal(redoma_answer_error(p.held[1], big, big, NULL), 0);
	assert_true(heard(&p));
	assert_int_equal(p.said.len, 4 + 1 + TOOL_WORD_MAX + 1 +
					     TOOL_MESSAGE_MAX);
	close_pair(&p);
}

/* What was short of memory in the middle leaves nothing behind. */
static void half_an_answer_is_none(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]");
	p.hold = true;
	call(&p, 1, "a", "{}");
	p.held[0]->answer.cap = 2;
	assert_int_equal(redoma_answer(p.held[0], "[1,2]", 5, NULL),
			 REDOMA_E_NOMEM);
	p.held[0]->answer.cap = 0;
	assert_int_equal(redoma_answer_error(p.held[0], "Late", "why", NULL),
			 0);
	failed(&p, 1, "Late", "why");
	close_pair(&p);
}

static void *answer_soon(void *data)
{
	struct pair *p = data;

	usleep(20000);
	assert_int_equal(redoma_answer(p->held[0], "7", 1, NULL), 0);
	return NULL;
}

/* Who answers on another thread wakes the one that waits. */
static void a_late_answer_wakes(void **state)
{
	uint64_t from = clock_monotonic_us(), took;
	struct pair p;
	pthread_t t;

	(void)state;
	open_pair(&p, V "tools: [a]");
	p.hold = true;
	call(&p, 1, "a", "{}");
	assert_int_equal(pthread_create(&t, NULL, answer_soon, &p), 0);
	/* Nothing is under way any more: it does not wait for its end. */
	assert_int_equal(desk_tend(p.desk, &p.core, from + 10000000, NULL), 0);
	took = clock_monotonic_us() - from;
	assert_true(took >= 20000 && took < 8000000);
	pthread_join(t, NULL);
	returned(&p, 1, "7");
	close_pair(&p);
}

/* A worker that never reads holds up nobody, and what it has coming is bounded
 * by what may be under way. */
static void a_worker_that_does_not_read(void **state)
{
	CLEANUP_FREE char *big = malloc(1 << 20);
	uint32_t i = 0;
	struct pair p;

	(void)state;
	memset(big, ' ', 1 << 20);
	big[0] = '1';
	open_pair(&p, V "tools: [a]\nlimits: {calls: 1000, in_flight: 2}");
	p.hold = true;
	while (i < 50 && call(&p, i + 1, "a", "{}") == DESK_GOES_ON) {
		assert_int_equal(redoma_answer(p.held[i], big, (1 << 20) - 1,
					       NULL), 0);
		assert_int_equal(desk_tend(p.desk, &p.core, 0, NULL),
				 REDOMA_E_BUSY);
		i++;
	}
	assert_int_equal(p.end, DESK_BROKEN);
	assert_true(i > 2 && i < 8);
	assert_true(p.core.out.len < (4 << 20));
	close_pair(&p);
}

/* Its outcome lies in the socket, and an answer that it does not want any more
 * cannot be sent. */
static void a_worker_that_said_all_and_ended(void **state)
{
	struct pair p;
	struct frame f;
	const void *body;

	(void)state;
	open_pair(&p, V "tools: [t]\n");
	assert_int_equal(call(&p, 1, "t", "{}"), DESK_GOES_ON);
	assert_int_equal(channel_send(&p.worker, FRAME_OUTCOME, FRAME_LAST,
				      "end", 3, NULL),
			 0);
	close(p.worker.fd);
	assert_int_equal(desk_tend(p.desk, &p.core, UINT64_MAX, NULL), 0);
	assert_int_equal(channel_recv(&p.core, 0, &f, &body, NULL), 0);
	assert_int_equal(f.kind, FRAME_OUTCOME);
	assert_int_equal(desk_tend(p.desk, &p.core, UINT64_MAX, NULL), 0);
	assert_int_equal(channel_recv(&p.core, 0, &f, &body, NULL),
			 REDOMA_E_WORKER);
	p.worker.fd = -1;
	close_pair(&p);
}

static void answers_after_the_end_go_nowhere(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, V "tools: [a]");
	p.hold = true;
	call(&p, 1, "a", "{\"k\":1}");
	call(&p, 2, "a", "{}");
	call(&p, 3, "a", "{}");
	assert_int_equal(redoma_call_is_over(p.held[0]), 0);
	assert_int_equal(redoma_answer(p.held[2], "1", 1, NULL), 0);
	close_pair(&p);
	assert_int_not_equal(redoma_call_is_over(p.held[0]), 0);
	assert_string_equal(redoma_call_args(p.held[0], NULL), "{\"k\":1}");
	assert_int_equal(redoma_answer(p.held[0], "1", 1, NULL), 0);
	assert_int_equal(redoma_answer_error(p.held[1], "E", "late", NULL), 0);
}

static void every_call_is_told(void **state)
{
	struct redoma_result *r = result_new();
	struct pair p;
	const char *json;

	(void)state;
	open_pair(&p, V "tools: [a]");
	call(&p, 1, "a", "{}");
	returned(&p, 1, "{}");
	p.hold = true;
	call(&p, 2, "a", "{}");
	call(&p, 3, "zzz", "{}");
	r->pure = true;
	assert_int_equal(desk_tell(p.desk, r, NULL), 0);
	assert_int_equal(r->n_calls, 3);
	assert_true(r->calls[0].ok && !r->calls[1].ok && !r->calls[2].ok);
	assert_false(r->pure);
	json = redoma_result_json(r, NULL);
	assert_non_null(strstr(json, "\"calls\":[{\"tool\":\"a\",\"ms\":"));
	assert_non_null(strstr(json, "Unanswered"));
	assert_non_null(strstr(json, "{\"tool\":\"zzz\""));
	redoma_result_free(r);
	assert_int_equal(redoma_answer(p.held[0], "1", 1, NULL), 0);
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_answered),
		cmocka_unit_test(answers_come_in_any_order),
		cmocka_unit_test(forged_numbers_break_it),
		cmocka_unit_test(forged_bodies_break_it),
		cmocka_unit_test(size_is_bounded),
		cmocka_unit_test(no_more_under_way_than_may_be),
		cmocka_unit_test(calls_are_counted),
		cmocka_unit_test(what_is_not_granted_reaches_nobody),
		cmocka_unit_test(the_terms_of_a_grant_hold),
		cmocka_unit_test(arguments_are_one_object),
		cmocka_unit_test(answers_are_checked),
		cmocka_unit_test(half_an_answer_is_none),
		cmocka_unit_test(a_late_answer_wakes),
		cmocka_unit_test(a_worker_that_does_not_read),
		cmocka_unit_test(a_worker_that_said_all_and_ended),
		cmocka_unit_test(answers_after_the_end_go_nowhere),
		cmocka_unit_test(every_call_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

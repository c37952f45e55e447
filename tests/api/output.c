/* redoma_request.on_output: order, streams, thread, time, caps; what it was
 * given before a run ended badly.
 * test-seconds: 120 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define ROOM (1 << 20)

struct heard {
	char text[3][ROOM]; /* by stream; [0]: both, as they came */
	size_t len[3];
	size_t calls, odd; /* odd: a stream that is neither, nothing in it */
	pthread_t thread;
	bool elsewhere;	   /* on another thread than redoma_run's */
	uint64_t first_us; /* when */
	struct redoma *cancel;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void add(struct heard *h, int at, const void *p, uint64_t len)
{
	if (len > ROOM - h->len[at]) {
		h->odd++;
		return;
	}
	memcpy(h->text[at] + h->len[at], p, len);
	h->len[at] += len;
}

static void hear(void *data, int stream, const void *p, uint64_t len)
{
	struct heard *h = data;

	h->elsewhere |= !pthread_equal(h->thread, pthread_self());
	if (!h->calls++)
		h->first_us = now_us();
	if ((stream != 1 && stream != 2) || !len) {
		h->odd++;
		return;
	}
	add(h, stream, p, len);
	add(h, 0, p, len);
}

static struct redoma *open_with(const char *policy, int single)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	o.single = (uint64_t)single;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

static struct redoma_result *run(struct redoma *r, const char *code,
				 struct heard *h)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	q.language = "js";
	q.source = code;
	q.source_len = strlen(code);
	if (h) {
		memset(h, 0, sizeof *h);
		h->thread = pthread_self();
		q.on_output = hear;
		q.on_output_data = h;
	}
	if (redoma_run(r, &q, &x, &err))
		fail_msg("%s", err.text);
	return x;
}

static void same(const char *p, size_t len, const void *q, uint64_t n)
{
	assert_int_equal(len, n);
	if (n)
		assert_memory_equal(p, q, n);
}

/* What was heard is what the result has, stream by stream. */
static void compare(const struct heard *h, struct redoma_result *x)
{
	uint64_t n = 0;
	const void *p = redoma_result_stdout(x, &n);

	same(h->text[1], h->len[1], p, n);
	p = redoma_result_stderr(x, &n);
	same(h->text[2], h->len[2], p, n);
	assert_int_equal(h->odd, 0);
	assert_false(h->elsewhere);
}

/* Every test runs with a pool and without. */
static void both_ways(const char *policy,
		      void (*go)(struct redoma *, struct heard *))
{
	struct heard *h = malloc(sizeof *h);

	assert_non_null(h);
	for (int single = 0; single < 2; single++) {
		struct redoma *r = open_with(policy, single);

		go(r, h);
		redoma_close(r);
	}
	free(h);
}

static void two_streams(struct redoma *r, struct heard *h)
{
	static const char code[] =
		"for (let i = 0; i < 300; i++) { console.log('o' + i);"
		"console.error('e' + i); process.stdout.write('\\0é;'); } 1";
	struct redoma_result *x = run(r, code, h);
	char want[64];
	size_t at = 0;

	assert_int_equal(redoma_result_status(x), REDOMA_STATUS_OK);
	compare(h, x);
	for (int i = 0; i < 300; i++) {
		int n = snprintf(want, sizeof want, "o%d\ne%d\n%c\xc3\xa9;", i,
				 i, 0);

		assert_true(at + (size_t)n <= h->len[0]);
		assert_memory_equal(h->text[0] + at, want, (size_t)n);
		at += (size_t)n;
	}
	assert_int_equal(at, h->len[0]);
	redoma_result_free(x);
}

static void order_and_streams(void **state)
{
	(void)state;
	both_ways("redoma: 1\n", two_streams);
}

static void while_it_runs(struct redoma *r, struct heard *h)
{
	static const char code[] = "console.log('first');"
		"await new Promise(r => setTimeout(r, 600)); console.log('last')";
	struct redoma_result *x = run(r, code, h);
	uint64_t ended = now_us();

	compare(h, x);
	assert_true(ended - h->first_us > 400000);
	assert_string_equal(h->text[0], "first\nlast\n");
	redoma_result_free(x);
}

static void output_comes_while_the_guest_runs(void **state)
{
	(void)state;
	both_ways("redoma: 1\n", while_it_runs);
}

static void flood(struct redoma *r, struct heard *h)
{
	static const char *const code[] = {
		"for (;;) console.log('x'.repeat(999))",
		"for (;;) console.error('x')",
		"for (let i = 0;; i++) i & 1 ? console.log(i) : console.error(i)",
		"process.stdout.write('x'.repeat(1e6))",
	};

	for (size_t i = 0; i < sizeof code / sizeof *code; i++) {
		struct redoma_result *x = run(r, code[i], h);

		assert_int_equal(redoma_result_status(x),
				 REDOMA_STATUS_OUTPUT_LIMIT);
		compare(h, x);
		assert_in_range(h->len[0], 1, 64 << 10);
		redoma_result_free(x);
	}
}

static void nothing_over_the_cap_is_heard(void **state)
{
	(void)state;
	both_ways("redoma: 1\nlimits: {output: 64KiB, wall: 8s}\n", flood);
}

/* Ends of which some are kills of the process: what came before was heard. */
static void bad_ends(struct redoma *r, struct heard *h)
{
	static const struct {
		const char *code;
		enum redoma_status status;
	} rows[] = {
		{"console.log('before'); for (;;);", REDOMA_STATUS_WALL_LIMIT},
		{"console.log('before'); const a = []; a.length = 1e9;"
		 "String(a)", REDOMA_STATUS_WALL_LIMIT},
		{"console.log('before'); const a = []; for (;;) a.push([])",
		 REDOMA_STATUS_MEMORY_LIMIT},
		{"console.log('before'); const f = () => f(); f()",
		 REDOMA_STATUS_STACK_LIMIT},
		{"console.log('before'); throw 1", REDOMA_STATUS_ERROR},
		{"console.log('before'); process.exit(7)", REDOMA_STATUS_ERROR},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct redoma_result *x = run(r, rows[i].code, h);

		assert_int_equal(redoma_result_status(x), rows[i].status);
		compare(h, x);
		same(h->text[1], h->len[1], "before\n", 7);
		redoma_result_free(x);
	}
}

static void a_guest_that_is_ended_was_heard(void **state)
{
	(void)state;
	both_ways("redoma: 1\nlimits: {wall: 700ms, memory: 32MiB}\n",
		  bad_ends);
}

static void *cancel_later(void *data)
{
	struct heard *h = data;

	usleep(400000);
	redoma_cancel(h->cancel);
	return NULL;
}

static void cancelled(struct redoma *r, struct heard *h)
{
	struct heard *who = calloc(1, sizeof *who);
	struct redoma_result *x;
	pthread_t t;

	assert_non_null(who);
	who->cancel = r;
	assert_int_equal(pthread_create(&t, NULL, cancel_later, who), 0);
	x = run(r, "console.log('before'); for (;;);", h);
	pthread_join(t, NULL);
	free(who);
	assert_int_equal(redoma_result_status(x), REDOMA_STATUS_CANCELLED);
	compare(h, x);
	same(h->text[1], h->len[1], "before\n", 7);
	redoma_result_free(x);
}

static void a_cancelled_guest_was_heard(void **state)
{
	(void)state;
	both_ways("redoma: 1\n", cancelled);
}

static void silent(struct redoma *r, struct heard *h)
{
	struct redoma_result *x = run(r, "6 * 7", h);

	compare(h, x);
	assert_int_equal(h->calls, 0); /* a value is no output */
	redoma_result_free(x);
	x = run(r, "console.log('o'); console.error('e')", NULL);
	same("o\n", 2, redoma_result_stdout(x, NULL), 2);
	same("e\n", 2, redoma_result_stderr(x, NULL), 2);
	redoma_result_free(x);
}

static void silence_calls_nobody(void **state)
{
	(void)state;
	both_ways("redoma: 1\n", silent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_and_streams),
		cmocka_unit_test(output_comes_while_the_guest_runs),
		cmocka_unit_test(nothing_over_the_cap_is_heard),
		cmocka_unit_test(a_guest_that_is_ended_was_heard),
		cmocka_unit_test(a_cancelled_guest_was_heard),
		cmocka_unit_test(silence_calls_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Kept answers: to the very same alone, within their bounds, and of each tenant
 * its own.  An answer is a guest's word, so each of these is a lie that must
 * not get further. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc_fail.h"
#include "core/formula_cache.h"
#include "wire/batch.h"

#define LEN 5000
#define COST(answer) (LEN + 200 + sizeof(answer) - 1) /* and some more */

/* A batch whose byte `at` is one more; 0: none is. */
static struct buf batch(size_t at, int64_t now_us)
{
	struct batch_head head = {.magic = BATCH_MAGIC, .now_us = now_us};
	struct buf b = {0};

	assert_int_equal(buf_reserve(&b, LEN), 0);
	for (size_t i = 0; i < LEN; i++)
		b.data[i] = (char)i;
	memcpy(b.data, &head, sizeof head);
	b.len = LEN;
	if (at)
		b.data[at]++;
	return b;
}

static struct formula_ask ask(const char *tenant, char scope,
			      const struct buf *b)
{
	struct formula_ask a = {.tenant = tenant, .batch = {b->data, b->len}};

	/* As the scope has the tenant in it. */
	snprintf((char *)a.scope, sizeof a.scope, "%s %c", tenant, scope);
	return a;
}

static struct formula_cache *cache_new(uint64_t bytes)
{
	struct formula_cache *c;

	assert_int_equal(formula_cache_new(bytes, &c, NULL), 0);
	return c;
}

static void keep(struct formula_cache *c, const char *tenant, size_t at,
		 const char *answer)
{
	struct buf b = batch(at, 1);
	struct formula_ask a = ask(tenant, 's', &b);

	formula_cache_keep(c, &a, &b, str_of(answer), false);
	buf_done(&b);
}

static bool finds(struct formula_cache *c, const char *tenant, char scope,
		  size_t at)
{
	struct buf b = batch(at, 2);
	struct formula_ask a = ask(tenant, scope, &b);
	bool ret = formula_cache_find(c, &a).len > 0;

	buf_done(&b);
	return ret;
}

static void a_lie_stays_with_its_own(void **state)
{
	struct formula_cache *c = cache_new(1 << 20);
	struct buf b = batch(0, 1), less = batch(0, 1);
	struct formula_ask a;
	struct str got;

	(void)state;
	keep(c, "one", 0, "a lie");
	a = ask("one", 's', &b);
	got = formula_cache_find(c, &a);
	assert_int_equal(got.len, 5);
	assert_memory_equal(got.p, "a lie", 5);
	assert_false(finds(c, "other", 's', 0));
	assert_false(finds(c, "one", 'x', 0));
	/* Any one byte, in the middle too, which no hash sees. */
	for (size_t i = 0; i < LEN; i += i < 100 ? 1 : 97) {
		bool time = i >= offsetof(struct batch_head, now_us) &&
			    i < offsetof(struct batch_head, row_us);

		if (i)
			assert_true(finds(c, "one", 's', i) == time);
	}
	less.len--;
	a = ask("one", 's', &less);
	assert_int_equal(formula_cache_find(c, &a).len, 0);
	less.len = 8; /* no batch at all */
	a = ask("one", 's', &less);
	assert_int_equal(formula_cache_find(c, &a).len, 0);
	formula_cache_keep(c, &a, &less, STR("x"), false);
	assert_int_equal(formula_cache_find(c, &a).len, 0);
	buf_done(&b);
	buf_done(&less);
	formula_cache_free(c);
}

static void what_asked_for_the_time_is_of_that_time(void **state)
{
	struct formula_cache *c = cache_new(1 << 20);
	struct buf b = batch(0, 7), same = batch(0, 7), later = batch(0, 8);
	struct formula_ask a = ask("one", 's', &b);

	(void)state;
	formula_cache_keep(c, &a, &b, STR("at 7"), true);
	assert_null(b.data); /* taken */
	a = ask("one", 's', &same);
	assert_int_equal(formula_cache_find(c, &a).len, 4);
	a = ask("one", 's', &later);
	assert_int_equal(formula_cache_find(c, &a).len, 0);
	/* The later one takes its place. */
	formula_cache_keep(c, &a, &later, STR("at eight"), true);
	assert_true(formula_cache_bytes(c) < 2 * LEN);
	a = ask("one", 's', &same);
	assert_int_equal(formula_cache_find(c, &a).len, 0);
	buf_done(&same);
	buf_done(&later);
	formula_cache_free(c);
}

static void the_least_recently_used_goes(void **state)
{
	struct formula_cache *c = cache_new(3 * COST("x"));

	(void)state;
	keep(c, "one", 100, "x");
	keep(c, "one", 101, "x");
	keep(c, "one", 102, "x");
	assert_true(finds(c, "one", 's', 100));
	keep(c, "one", 103, "x");
	assert_true(finds(c, "one", 's', 100));
	assert_false(finds(c, "one", 's', 101));
	assert_true(finds(c, "one", 's', 102));
	assert_true(finds(c, "one", 's', 103));
	assert_true(formula_cache_bytes(c) <= 3 * COST("x"));
	formula_cache_free(c);
}

/* Nor does it push out what is there. */
static void what_is_larger_than_all_is_not_kept(void **state)
{
	struct formula_cache *c = cache_new(LEN);
	char large[500];

	(void)state;
	keep(c, "one", 100, "x");
	assert_false(finds(c, "one", 's', 100));
	assert_int_equal(formula_cache_bytes(c), 0);
	formula_cache_free(c);
	c = cache_new(COST("x"));
	memset(large, 'x', sizeof large - 1);
	large[sizeof large - 1] = '\0';
	keep(c, "one", 100, "x");
	keep(c, "one", 101, large);
	assert_true(finds(c, "one", 's', 100));
	assert_false(finds(c, "one", 's', 101));
	formula_cache_free(c);
}

/* Who keeps much pushes out its own. */
static void no_tenant_pushes_out_another(void **state)
{
	struct formula_cache *c = cache_new(10 * COST("x"));

	(void)state;
	keep(c, "quiet", 100, "x");
	for (size_t i = 0; i < 100; i++)
		keep(c, "loud", 100 + i, "x");
	assert_true(finds(c, "quiet", 's', 100));
	assert_true(finds(c, "loud", 's', 199));
	assert_false(finds(c, "loud", 's', 150));
	formula_cache_free(c);
}

static void their_number_is_bounded(void **state)
{
	struct formula_cache *c = cache_new((uint64_t)1 << 30);
	struct buf b = {0};
	uint64_t bytes = 0;

	(void)state;
	for (uint64_t i = 0; i < FORMULA_CACHE_ENTRIES + 10; i++) {
		struct batch_head head = {.first = i};
		struct formula_ask a;

		buf_clear(&b);
		assert_int_equal(buf_add(&b, &head, sizeof head), 0);
		a = ask("one", 's', &b);
		formula_cache_keep(c, &a, &b, STR("x"), false);
		if (i + 1 == FORMULA_CACHE_ENTRIES)
			bytes = formula_cache_bytes(c);
	}
	assert_int_equal(formula_cache_bytes(c), bytes);
	buf_done(&b);
	formula_cache_free(c);
}

/* Nothing is lost but what would have been kept. */
static void without_memory_nothing_is_kept(void **state)
{
	struct formula_cache *c = cache_new(1 << 20);
	bool kept = false;

	(void)state;
	for (long n = 0; n < 10 && !kept; n++) {
		struct buf b = batch(0, 1);
		struct formula_ask a = ask("one", 's', &b);

		alloc_left = n;
		formula_cache_keep(c, &a, &b, STR("x"), false);
		alloc_left = -1;
		kept = !b.data;
		assert_true(finds(c, "one", 's', 0) == kept);
		buf_done(&b);
	}
	assert_true(kept);
	formula_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lie_stays_with_its_own),
		cmocka_unit_test(what_asked_for_the_time_is_of_that_time),
		cmocka_unit_test(the_least_recently_used_goes),
		cmocka_unit_test(what_is_larger_than_all_is_not_kept),
		cmocka_unit_test(no_tenant_pushes_out_another),
		cmocka_unit_test(their_number_is_bounded),
		cmocka_unit_test(without_memory_nothing_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

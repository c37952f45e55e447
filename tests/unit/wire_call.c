/* Calls and answers: what goes in comes out, and nothing else is taken. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "wire/call.h"

#define HEADER 32 /* bytes of a call before its path */

static void call_round_trip(void **state)
{
	static const struct call calls[] = {
		{.op = CALL_OPEN, .flags = CALL_FLAGS, .grant = 3,
		 .path = STR("a/b")},
		{.op = CALL_STAT, .flags = CALL_NOFOLLOW, .grant = UINT32_MAX},
		{.op = CALL_LIST, .grant = 1, .offset = UINT64_MAX,
		 .path = STR("x")},
		{.op = CALL_READLINK, .path = STR("\xff\n")},
		{.op = CALL_PREAD, .handle = UINT64_MAX, .offset = 7,
		 .count = UINT32_MAX},
		{.op = CALL_CLOSE, .handle = 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		CLEANUP(buf_done) struct buf b = {0};
		const struct call *c = &calls[i];
		struct call r;
		size_t n;

		assert_int_equal(call_encode(c, &b, NULL), 0);
		assert_int_equal(b.len, HEADER + c->path.len);
		assert_int_equal(call_decode(b.data, b.len, &r, NULL), 0);
		assert_int_equal(r.op, c->op);
		assert_int_equal(r.flags, c->flags);
		assert_int_equal(r.grant, c->grant);
		assert_int_equal(r.count, c->count);
		assert_true(r.handle == c->handle && r.offset == c->offset);
		assert_true(str_equal(r.path, c->path));
		for (n = 0; n < b.len; n++)
			assert_int_equal(call_decode(b.data, n, &r, NULL),
					 REDOMA_E_INVALID);
		assert_int_equal(buf_add(&b, "", 1), 0);
		assert_int_equal(call_decode(b.data, b.len, &r, NULL),
				 REDOMA_E_INVALID);
	}
}

/* One byte of a good call is changed; the sentence has `part`. */
static void spoil(const struct call *c, size_t at, char value,
		  const char *part)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err = {0};
	struct call r;

	assert_int_equal(call_encode(c, &b, NULL), 0);
	b.data[at] = value;
	assert_int_equal(call_decode(b.data, b.len, &r, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, part));
}

static void call_refusals(void **state)
{
	const struct call open = {.op = CALL_OPEN, .path = STR("abc")};
	const struct call pread = {.op = CALL_PREAD, .handle = 1};

	(void)state;
	spoil(&open, 0, 0, "no such operation");
	spoil(&open, 0, CALL_OP_MAX, "no such operation");
	spoil(&open, 0, -1, "no such operation");
	spoil(&open, 1, 64, "no such flag");
	spoil(&open, 2, 1, "not a call");
	spoil(&open, 8, 1, "a field that the operation does not have");
	spoil(&open, 12, 1, "a field that the operation does not have");
	spoil(&open, 20, 1, "a field that the operation does not have");
	spoil(&pread, 1, 1, "a field that the operation does not have");
	spoil(&pread, 4, 1, "a field that the operation does not have");
	spoil(&open, 28, 4, "not a call");
	spoil(&open, 28, 2, "not a call");
	spoil(&open, 31, -1, "not a call");
	spoil(&open, HEADER + 1, 0, "a NUL in a path");
}

static void path_cap(void **state)
{
	static char path[CALL_PATH_MAX + 1];
	struct call c = {.op = CALL_OPEN, .path = {path, CALL_PATH_MAX}};
	CLEANUP(buf_done) struct buf b = {0};
	struct call r;

	(void)state;
	memset(path, 'x', sizeof path);
	assert_int_equal(call_encode(&c, &b, NULL), 0);
	assert_int_equal(call_decode(b.data, b.len, &r, NULL), 0);
	c.path.len++;
	assert_int_equal(call_encode(&c, &b, NULL), REDOMA_E_INVALID);
	/* The same with a length made by hand. */
	b.data[28]++;
	assert_int_equal(buf_add(&b, "x", 1), 0);
	assert_int_equal(call_decode(b.data, b.len, &r, NULL),
			 REDOMA_E_INVALID);
}

static void answer_round_trip(void **state)
{
	static char data[CALL_DATA_MAX];
	struct answer a = {
		.error = EACCES,
		.has_fd = true,
		.handle = UINT64_MAX - 1,
		.next = 77,
		.st = {.type = CALL_TYPE_LINK, .dev = 1, .ino = 2, .nlink = 3,
		       .size = UINT64_MAX, .atim_ns = INT64_MIN,
		       .mtim_ns = -1, .ctim_ns = INT64_MAX},
		.data = {data, sizeof data},
	};
	CLEANUP(buf_done) struct buf b = {0};
	struct answer r;
	size_t n;

	(void)state;
	memset(data, 'd', sizeof data);
	assert_int_equal(answer_encode(&a, &b, NULL), 0);
	assert_true(b.len <= FRAME_BODY_MAX);
	assert_int_equal(answer_decode(b.data, b.len, &r, NULL), 0);
	assert_true(r.has_fd && r.error == EACCES && r.handle == a.handle &&
		    r.next == 77 && r.st.type == CALL_TYPE_LINK);
	assert_true(r.st.size == UINT64_MAX && r.st.atim_ns == INT64_MIN &&
		    r.st.mtim_ns == -1 && r.st.ctim_ns == INT64_MAX);
	assert_true(str_equal(r.data, a.data));
	for (n = 0; n < 200; n++)
		assert_int_equal(answer_decode(b.data, n, &r, NULL),
				 REDOMA_E_INVALID);
	assert_int_equal(answer_decode(b.data, b.len - 1, &r, NULL),
			 REDOMA_E_INVALID);
	b.data[4] = 2;
	assert_int_equal(answer_decode(b.data, b.len, &r, NULL),
			 REDOMA_E_INVALID);
	b.data[4] = 1;
	b.data[21] = CALL_TYPE_MAX;
	assert_int_equal(answer_decode(b.data, b.len, &r, NULL),
			 REDOMA_E_INVALID);
	a.data.len++;
	assert_int_equal(answer_encode(&a, &b, NULL), REDOMA_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_round_trip),
		cmocka_unit_test(call_refusals),
		cmocka_unit_test(path_cap),
		cmocka_unit_test(answer_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

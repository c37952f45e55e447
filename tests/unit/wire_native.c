/* The entries of a native root cross whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/native.h"

static const struct native_item entries[] = {
	{1, 1, "/usr", "/usr"},
	{2, 0, "/lib", "usr/lib"},
	{3, 0, "/etc/hosts", "127.0.0.1 localhost\n"},
	{4, 0, "/srv", ""},
};
#define ENTRIES (sizeof entries / sizeof *entries)

static void encode(struct buf *b)
{
	assert_int_equal(native_root_encode(entries, ENTRIES, b, NULL), 0);
}

static void there_and_back(void **state)
{
	struct buf b = {0};
	struct native_item *got;
	size_t n, i;

	(void)state;
	encode(&b);
	assert_int_equal(native_root_decode(b.data, b.len, &got, &n, NULL), 0);
	assert_int_equal(n, ENTRIES);
	for (i = 0; i < n; i++) {
		assert_int_equal(got[i].kind, entries[i].kind);
		assert_int_equal(got[i].exec, entries[i].exec);
		assert_string_equal(got[i].guest, entries[i].guest);
		assert_string_equal(got[i].host, entries[i].host);
	}
	free(got);
	buf_done(&b);
}

static void refused(const void *p, size_t len)
{
	struct native_item *got = NULL;
	size_t n = 77;

	assert_int_equal(native_root_decode(p, len, &got, &n, NULL),
			 REDOMA_E_INVALID);
	assert_null(got);
	assert_int_equal(n, 77);
}

static void cut_anywhere(void **state)
{
	struct buf b = {0};
	size_t i;

	(void)state;
	encode(&b);
	for (i = 0; i < b.len; i++)
		refused(b.data, i);
	assert_int_equal(buf_add(&b, "", 1), 0);
	refused(b.data, b.len);
	buf_done(&b);
}

/* Where things lie: count 4, kind 1, exec 1, length 4, "/usr" and NUL. */
static void forged(void **state)
{
	static const struct {
		size_t at;
		char byte;
	} rows[] = {
		{0, 3},    /* fewer entries than there are */
		{0, 5},    /* more */
		{2, 1},    /* far more than the most */
		{4, 5},    /* no such kind */
		{5, 2},    /* not a bool */
		{6, 0},    /* an empty text */
		{6, 4},    /* a text without its NUL */
		{9, 127},  /* a length beyond everything */
		{10, 'u'}, /* not absolute */
		{12, 0},   /* a NUL inside */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf b = {0};

		encode(&b);
		b.data[rows[i].at] = rows[i].byte;
		refused(b.data, b.len);
		buf_done(&b);
	}
}

static void over_the_caps(void **state)
{
	size_t n = NATIVE_ENTRIES_MAX + 1, i;
	struct native_item *many = calloc(n, sizeof *many);
	char *path = malloc(2 * NATIVE_PATH_ROOM);
	struct buf b = {0};

	(void)state;
	assert_non_null(many);
	assert_non_null(path);
	for (i = 0; i < n; i++)
		many[i] = (struct native_item){4, 0, "/a", ""};
	assert_int_equal(native_root_encode(many, n, &b, NULL),
			 REDOMA_E_INVALID);
	buf_clear(&b);
	assert_int_equal(native_root_encode(many, n - 1, &b, NULL), 0);
	memset(path, '/', 2 * NATIVE_PATH_ROOM);
	path[NATIVE_PATH_ROOM] = '\0';
	many[0].guest = path;
	assert_int_equal(native_root_encode(many, 1, &b, NULL),
			 REDOMA_E_INVALID);
	path[NATIVE_PATH_ROOM - 1] = '\0';
	buf_clear(&b);
	assert_int_equal(native_root_encode(many, 1, &b, NULL), 0);
	free(path);
	free(many);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(forged),
		cmocka_unit_test(over_the_caps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

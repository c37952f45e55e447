/* Digests against published vectors, buffers at their caps, clocks, and every
 * allocation of the JSON reader failing in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alloc_fail.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"

static void digests_match_the_standard(void **state)
{
	/* FIPS 180-4 examples; RFC 7693 style keyed BLAKE2b-256 is checked
	 * against its own properties below. */
	static const struct {
		const char *text, *hex;
	} rows[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b"
		     "7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff"
			"61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db0"
		 "6c1"},
	};
	uint8_t d[HASH_BYTES], again[HASH_BYTES];
	char hex[HASH_HEX_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct hash h;

		hash_sha256(rows[i].text, strlen(rows[i].text), d);
		assert_string_equal(hash_hex(d, sizeof d, hex), rows[i].hex);
		hash_init(&h);
		for (const char *p = rows[i].text; *p; p++)
			hash_add(&h, p, 1);
		hash_end(&h, again);
		assert_true(hash_equal(d, again, sizeof d));
	}
}

/* The example of the SipHash paper, appendix A. */
static void short_ones_match_the_paper(void **state)
{
	uint8_t key[HASH_SHORT_KEY], text[15];

	(void)state;
	for (uint8_t i = 0; i < sizeof key; i++)
		key[i] = i;
	memcpy(text, key, sizeof text);
	assert_true(hash_short(key, text, sizeof text) ==
		    UINT64_C(0xa129ca6149be45e5));
	key[3]++;
	assert_false(hash_short(key, text, sizeof text) ==
		     UINT64_C(0xa129ca6149be45e5));
}

static void codes_depend_on_key_and_bytes(void **state)
{
	/* Keyed BLAKE2b-256 of "abc" under 00 01 .. 1f, as computed by Python's
	 * hashlib.blake2b(b"abc", key=bytes(range(32)), digest_size=32). */
	static const char want[] =
		"d63a32d3e44738d7907f964316c241adaba0abfeabc323496775"
		"78a15a203f7f";
	uint8_t key[HASH_BYTES], a[HASH_BYTES], b[HASH_BYTES];
	char hex[HASH_HEX_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)i;
	hash_mac(key, "abc", 3, a);
	assert_string_equal(hash_hex(a, sizeof a, hex), want);
	hash_mac(key, "abd", 3, b);
	assert_false(hash_equal(a, b, sizeof a));
	key[31] ^= 1;
	hash_mac(key, "abc", 3, b);
	assert_false(hash_equal(a, b, sizeof a));
}

static void reads_hex_exactly(void **state)
{
	uint8_t d[2] = {9, 9};

	(void)state;
	assert_true(hash_unhex("0aFf", 4, d, 2));
	assert_int_equal(d[0], 0x0a);
	assert_int_equal(d[1], 0xff);
	assert_false(hash_unhex("0aF", 3, d, 2));
	assert_false(hash_unhex("0aFff", 5, d, 2));
	assert_false(hash_unhex("0agf", 4, d, 2));
	assert_int_equal(d[0], 0x0a);
}

static void random_bytes_differ(void **state)
{
	uint8_t a[32] = {0}, b[32] = {0};

	(void)state;
	assert_int_equal(hash_random(a, sizeof a), 0);
	assert_int_equal(hash_random(b, sizeof b), 0);
	assert_memory_not_equal(a, b, sizeof a);
	hash_wipe(a, sizeof a);
	memset(b, 0, sizeof b);
	assert_memory_equal(a, b, sizeof a);
}

static void clocks_advance(void **state)
{
	uint64_t a = clock_monotonic_us(), cpu = clock_thread_us();

	(void)state;
	while (clock_monotonic_us() - a < 2000)
		;
	assert_true(clock_thread_us() > cpu);
	assert_true(clock_realtime_us() > 1600000000000000);
}

static void buffers_keep_to_their_cap(void **state)
{
	CLEANUP(buf_done) struct buf b = {.cap = 10};
	CLEANUP_FREE char *taken = NULL;

	(void)state;
	assert_int_equal(buf_add(&b, "12345", 5), 0);
	assert_int_equal(buf_add(&b, "678901", 6), -1);
	assert_int_equal(buf_addf(&b, "%s", "123456"), -1);
	assert_string_equal(b.data, "12345");
	assert_int_equal(buf_addf(&b, "%d", 67890), 0);
	assert_int_equal(b.len, 10);
	assert_int_equal(buf_reserve(&b, SIZE_MAX), -1);
	taken = buf_take(&b);
	assert_string_equal(taken, "1234567890");
	assert_null(b.data);
	free(taken);
	taken = buf_take(&b);
	assert_string_equal(taken, "");
}

static void json_survives_failed_allocations(void **state)
{
	static const char text[] =
		"{\"a\":[1,2,{\"b\":\"c\\n\"}],\"k1\":1,\"k2\":1,\"k3\":1,"
		"\"k4\":1,\"k5\":1,\"k6\":1,\"k7\":1,\"k8\":1,\"k9\":1}";
	int e = REDOMA_E_NOMEM;
	long n = 0;

	(void)state;
	for (; e && n < ALLOC_TRIES; n++) {
		CLEANUP(json_cleanup) struct json_doc *d = NULL;
		struct redoma_error err = {0};

		alloc_left = n;
		e = json_parse(text, sizeof text - 1, &d, &err);
		alloc_left = -1;
		if (!e)
			break;
		assert_int_equal(e, REDOMA_E_NOMEM);
		assert_int_equal(err.code, REDOMA_E_NOMEM);
		assert_null(d);
	}
	assert_int_equal(e, 0);
	assert_true(n >= 4);
}

static void writing_survives_failed_allocations(void **state)
{
	long n = 0;
	int e = -1;

	(void)state;
	for (; e && n < ALLOC_TRIES; n++) {
		CLEANUP(buf_done) struct buf b = {0};
		struct json_writer w = {.buf = &b};

		alloc_left = n;
		json_write_begin(&w, '[');
		json_write_text(&w, "0123456789012345678901234567890123456789"
				    "01234567890123456789012345678901234567");
		json_write_double(&w, 0.5);
		json_write_end(&w, ']');
		e = json_write_done(&w);
		alloc_left = -1;
	}
	assert_int_equal(e, 0);
	assert_true(n >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_match_the_standard),
		cmocka_unit_test(short_ones_match_the_paper),
		cmocka_unit_test(codes_depend_on_key_and_bytes),
		cmocka_unit_test(reads_hex_exactly),
		cmocka_unit_test(random_bytes_differ),
		cmocka_unit_test(clocks_advance),
		cmocka_unit_test(buffers_keep_to_their_cap),
		cmocka_unit_test(json_survives_failed_allocations),
		cmocka_unit_test(writing_survives_failed_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

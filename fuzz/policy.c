/* Policy text.  What is accepted prints as text that is accepted, prints the
 * same, and contains itself; what is refused says so in one plain sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int what)
{
	if (!what)
		abort();
}

static void refused(const struct redoma_error *err)
{
	size_t len = strnlen(err->text, sizeof err->text);

	require(err->code < 0 && err->code != REDOMA_E_NOMEM && len > 0);
	/* A sentence that was cut may end inside a character. */
	if (len < sizeof err->text - 1)
		require(str_is_plain((struct str){err->text, len}));
}

/* The input is an option too: its first byte says which. */
static void try_option(const struct policy *p, const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"read", "write", "env", "limit",
					   "allow", "tool", "walls", "clock",
					   "random", "on_denied", "reuse"};
	struct redoma_error err = {0};
	struct policy *q = NULL;
	char value[256];

	if (size < 2 || size > sizeof value)
		return;
	memcpy(value, data + 1, size - 1);
	value[size - 1] = '\0';
	if (policy_with(p, keys[data[0] % (sizeof keys / sizeof *keys)], value,
			"/cwd", &q, &err)) {
		refused(&err);
		return;
	}
	require(policy_contains(q, q, &err) == 0);
	policy_free(q);
}

static void print_twice(const struct policy *p)
{
	struct buf a = {0}, b = {0};
	struct redoma_error err = {0};
	struct policy *q = NULL;

	require(policy_print(p, &a) == 0);
	/* Escapes and defaults may make it longer than what is read. */
	if (a.len <= 1 << 20) {
		require(policy_parse(a.data, a.len, "/base", &q, &err) == 0);
		require(policy_print(q, &b) == 0);
		require(a.len == b.len && !memcmp(a.data, b.data, a.len));
		require(policy_contains(p, q, &err) == 0);
		require(policy_contains(q, p, &err) == 0);
	}
	policy_free(q);
	buf_done(&a);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redoma_error err = {0};
	struct policy *p = NULL;

	if (policy_parse((const char *)data, size, "/base", &p, &err)) {
		refused(&err);
		require(!policy_parse("", 0, "/base", &p, &err));
	}
	print_twice(p);
	try_option(p, data, size);
	policy_free(p);
	return 0;
}

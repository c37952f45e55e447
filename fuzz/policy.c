/* Policies: what parses is within itself, prints, and the print means the same.
 */
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void free_policy(struct policy **p)
{
	policy_free(*p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_policy) struct policy *p = NULL;
	CLEANUP(free_policy) struct policy *again = NULL;
	CLEANUP(buf_done) struct buf first = {0};
	CLEANUP(buf_done) struct buf second = {0};
	struct redoma_error err = {0};

	if (policy_parse((const char *)data, size, "/base", &p, &err)) {
		if (!err.text[0] || p)
			abort();
		return 0;
	}
	if (policy_contains(p, p, NULL))
		abort();
	if (policy_print(p, &first) ||
	    policy_parse(first.data, first.len, "/base", &again, NULL) ||
	    policy_print(again, &second))
		abort();
	if (first.len != second.len ||
	    memcmp(first.data, second.data, first.len))
		abort();
	if (policy_contains(p, again, NULL) || policy_contains(again, p, NULL))
		abort();
	return 0;
}

/* The same tests of a language for its image and for the host's own interpreter
 * (--native): whatever they say holds in both. */
#ifndef API_TIERS_H
#define API_TIERS_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

static bool tier_native; /* of the test at hand */

static int tier_go_native(void **state)
{
	(void)state;
	tier_native = true;
	return 0;
}

static int tier_go_back(void **state)
{
	(void)state;
	tier_native = false;
	return 0;
}

/* Sets the tier of a request; skips the test where nobody runs it. */
static inline void tier_of(uint64_t *native, const char *program)
{
	*native = tier_native;
	if (tier_native && access(program, X_OK))
		skip();
}

#define IN_BOTH_TIERS(f)                                            \
	cmocka_unit_test(f),                                        \
	{                                                           \
		"native_" #f, f, tier_go_native, tier_go_back, NULL \
	}

#endif

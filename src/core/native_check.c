#include "core/native.h"

#include <string.h>

#define WHERE "core"

static int unfit(struct redoma_error *err, const char *key, const char *why)
{
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "`%s` cannot be held for a native program: %s; take it "
		       "out, or run the code as js or .wasm", key, why);
}

static int check_policy(const struct policy *p, struct redoma_error *err)
{
	if (p->limits.fuel)
		return unfit(err, "limits.fuel",
			     "its instructions are not counted");
	if (p->clock != SOURCE_REAL)
		return unfit(err, "clock", "it can read the machine's clock");
	if (p->random != SOURCE_REAL)
		return unfit(err, "random",
			     "it can read the machine's random numbers");
	if (p->end_on_denied)
		return unfit(err, "on_denied: end",
			     "what the kernel refuses it is not told to us");
	return 0;
}

static int check_command(const struct redoma_request *q,
			 struct redoma_error *err)
{
	if (!q->argv || !q->argv[0] || !*q->argv[0])
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no program to run: give it after --, for "
			       "example --native -- node script.js");
	for (size_t i = 0; q->argv[i]; i++) {
		if (i < PLAN_NAMES_MAX && strlen(q->argv[i]) <= PLAN_TEXT_MAX)
			continue;
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the argument list is too long: at most %d "
			       "arguments of %d bytes; pass data as input or "
			       "as a granted file",
			       PLAN_NAMES_MAX, PLAN_TEXT_MAX);
	}
	return 0;
}

int native_check(const struct redoma_request *q, const struct policy *p,
		 struct redoma_error *err)
{
	int r;

	if (q->invoke)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "invoke is for .wasm modules; a native program "
			       "is run as a whole");
	r = q->source ? 0 : check_command(q, err);
	if (!r && !q->source && p->n_tools)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "`tools` cannot be given to a command: only "
			       "--native FILE.js and FILE.py can call them; "
			       "take it out, or run a source");
	return r ? r : check_policy(p, err);
}

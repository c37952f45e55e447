#include "policy/choices.h"

#include "policy/read.h"

int choice_read_on_denied(void *policy, const struct tree *v,
			  struct redoma_error *err)
{
	static const char *const words[] = {"error", "end", NULL};
	struct policy *p = policy;
	unsigned word = 0;
	int e = read_word(v, "on_denied", words, &word, err);

	if (!e)
		p->end_on_denied = word == 1;
	return e;
}

int choice_read_reuse(void *policy, const struct tree *v,
		      struct redoma_error *err)
{
	static const char *const words[] = {"never", "tenant", NULL};
	struct policy *p = policy;
	unsigned word = 0;
	int e = read_word(v, "reuse", words, &word, err);

	if (!e)
		p->reuse_tenant = word == 1;
	return e;
}

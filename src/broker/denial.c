#include "broker/denial.h"

#include <stdlib.h>
#include <string.h>

void denial_add(struct sealed *s, const char *op, uint32_t grant,
		struct str path, bool write)
{
	struct seal_denial *d;
	char *copy;
	size_t i;

	for (i = 0; i < s->n_denials; i++) {
		d = &s->denials[i];
		if (!strcmp(d->op, op) && s->denied_grant[i] == grant &&
		    d->write == write && str_equal(d->path, path)) {
			d->count++;
			return;
		}
	}
	if (s->n_denials == SEAL_DENIALS_MAX)
		return;
	copy = malloc(path.len + 1);
	if (!copy)
		return;
	if (path.len)
		memcpy(copy, path.p, path.len);
	copy[path.len] = '\0';
	s->denied_grant[s->n_denials] = grant;
	s->denials[s->n_denials++] = (struct seal_denial){
		.op = op,
		.guest = s->plan.grants[grant].guest,
		.path = {copy, path.len},
		.count = 1,
		.write = write,
	};
}

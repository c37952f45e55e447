#include "policy/plan.h"

#include <stdlib.h>
#include <unistd.h>

static void free_strings(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

void plan_done(struct plan *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_grants; i++) {
		free(p->grants[i].guest);
		if (p->grants[i].fd >= 0)
			close(p->grants[i].fd);
	}
	free(p->grants);
	free_strings(p->argv);
	free_strings(p->env);
	free_strings(p->tools);
	*p = (struct plan){0};
}

#include "base/here.h"

void here_stay(struct here *h)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	h->stays = false;
	if (cpu < 0 || cpu >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof h->all, &h->all))
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	h->stays = !sched_setaffinity(0, sizeof one, &one);
}

void here_leave(const struct here *h)
{
	if (h->stays && sched_setaffinity(0, sizeof h->all, &h->all))
		return; /* the CPUs changed meanwhile: it stays */
}

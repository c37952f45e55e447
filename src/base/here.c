#include "base/here.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"

#define LONG_US 1000u /* for an answer that comes at once */
#define ASLEEP_LEAST 512u
#define ASLEEP_MOST 8192u
#define ASLEEP_MORE 4u

#define BRISK_NS 100000u    /* the least that Linux takes */
#define MEEK_NS	 100000000u /* the most */

/* struct sched_attr of the kernel; glibc has it since 2.41. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void ask(pid_t pid, uint32_t policy, uint64_t turn_ns)
{
	struct attr a = {.size = sizeof a,
			 .policy = policy,
			 .nice = getpriority(PRIO_PROCESS, 0),
			 .runtime = turn_ns};

	syscall(SYS_sched_setattr, pid, &a, 0);
}

void here_meek(pid_t pid)
{
	/* Only speed depends on it; so below. */
	ask(pid, SCHED_BATCH, MEEK_NS);
}

void here_brisk(void)
{
	ask(0, SCHED_OTHER, BRISK_NS);
}

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

static uint32_t longer(uint32_t last)
{
	if (!last)
		return ASLEEP_LEAST;
	return last < ASLEEP_MOST ? last * ASLEEP_MORE : ASLEEP_MOST;
}

void turn_give(struct turn *t)
{
	uint64_t from;

	if (t->asleep) {
		t->asleep--;
		return;
	}
	from = clock_monotonic_us();
	sched_yield();
	t->last = clock_monotonic_us() - from > LONG_US ? longer(t->last) : 0;
	t->asleep = t->last;
}

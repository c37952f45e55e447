/* What a group has used. */
#include "jail/group.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "jail/group_steps.h"

#define NS_PER_US 1000

int group_cpu_fd(const struct group *c)
{
	const struct hier *h = groups_with(c->g, HIER_UNIFIED);
	const char *name = "cpu.stat";

	if (!h) {
		h = groups_with(c->g, HIER_CPUACCT);
		name = "cpuacct.usage";
	}
	return h ? gfile_open(h->place, c->at, name, O_RDONLY) : -1;
}

uint64_t group_cpu_read(int fd)
{
	char text[GROUP_TEXT_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	uint64_t v;

	if (n <= 0)
		return UINT64_MAX;
	text[n] = 0;
	if (gtext_number(text, "usage_usec", &v))
		return v;
	return gtext_number(text, NULL, &v) ? v / NS_PER_US : UINT64_MAX;
}

int group_oom_count_fd(const struct group *c)
{
	const struct hier *h = groups_with(c->g, HIER_MEMORY);

	return h ? gfile_open(h->place, c->at,
			      h->has & HIER_UNIFIED ? "memory.events"
						    : "memory.oom_control",
			      O_RDONLY)
		 : -1;
}

uint64_t group_oom_count(int fd)
{
	char text[GROUP_TEXT_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	uint64_t v;

	if (n <= 0)
		return 0;
	text[n] = 0;
	return gtext_number(text, "oom_kill", &v) ? v : 0;
}

/* The first of the files that this kernel has. */
static uint64_t peak(const struct group *c, const struct hier *h)
{
	static const char *const v1[] = {"memory.memsw.max_usage_in_bytes",
					 "memory.max_usage_in_bytes"};
	static const char *const v2[] = {"memory.peak", "memory.peak"};
	const char *const *names = h->has & HIER_UNIFIED ? v2 : v1;
	uint64_t v;

	for (size_t i = 0; i < 2; i++)
		if (!gfile_number(h->place, c->at, names[i], NULL, &v))
			return v;
	return UINT64_MAX;
}

int group_usage(const struct group *c, struct group_usage *ret,
		struct redoma_error *err)
{
	const struct hier *memory = groups_with(c->g, HIER_MEMORY);
	const struct hier *pids = groups_with(c->g, HIER_PIDS);
	struct group_usage u = {.memory_peak_bytes = UINT64_MAX};
	int fd = group_cpu_fd(c);

	u.cpu_us = group_cpu_read(fd);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && u.cpu_us == UINT64_MAX)
		return err_sys(err, GROUP_WHERE, "read the CPU time");
	if (memory) {
		u.memory_peak_bytes = peak(c, memory);
		if (gfile_number(memory->place, c->at,
				 memory->has & HIER_UNIFIED
					 ? "memory.events"
					 : "memory.oom_control",
				 "oom_kill", &u.oom_kills))
			return err_sys(err, GROUP_WHERE, "read the OOM kills");
	}
	if (pids && gfile_number(pids->place, c->at, "pids.events", "max",
				 &u.pids_refused))
		return err_sys(err, GROUP_WHERE, "read pids.events");
	*ret = u;
	return 0;
}

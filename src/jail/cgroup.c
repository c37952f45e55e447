/* What cgroups(7) offers here, learned by making a directory below our own.
 * Moves no process and leaves nothing, so it knows less than groups_open. */
#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/group_steps.h"

/* 0, or the errno of why no directory can be made. */
static int try_mkdir(const struct hier *h)
{
	char name[64];

	if (!h)
		return ENOENT;
	snprintf(name, sizeof name, "redoma-probe-%d-%ld", getpid(),
		 syscall(SYS_gettid));
	if (mkdirat(h->place, name, 0755))
		return errno;
	return unlinkat(h->place, name, AT_REMOVEDIR) ? errno : 0;
}

enum jail_cgroups cgroup_detect(int *ret_sys)
{
	CLEANUP(place_close) struct place p;
	const struct hier *memory = NULL, *unified = NULL;
	int v1, v2;

	place_find(&p);
	for (size_t i = 0; i < p.n; i++) {
		if (p.h[i].has & HIER_UNIFIED)
			unified = &p.h[i];
		if (p.h[i].has & HIER_MEMORY)
			memory = &p.h[i];
	}
	v1 = try_mkdir(memory);
	v2 = try_mkdir(unified);
	*ret_sys = 0;
	if (!v1)
		return v2 ? JAIL_CGROUPS_V1 : JAIL_CGROUPS_HYBRID;
	if (!v2 && !memory && v2_fits(&p))
		return JAIL_CGROUPS_V2;
	if (!memory && !unified) {
		*ret_sys = ENOENT;
		return JAIL_CGROUPS_NONE;
	}
	*ret_sys = memory ? v1 : v2 ? v2 : EOPNOTSUPP;
	return JAIL_CGROUPS_DENIED;
}

#include "jail/steps.h"

#include <sched.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define HOSTNAME "redoma"

static const int flags[JAIL_CONTROLS] = {
	[JAIL_MOUNT] = CLONE_NEWNS,	     [JAIL_NET] = CLONE_NEWNET,
	[JAIL_IPC] = CLONE_NEWIPC,	     [JAIL_UTS] = CLONE_NEWUTS,
	[JAIL_CGROUPNS] = CLONE_NEWCGROUP,
};

static const char *const words[JAIL_CONTROLS] = {
	[JAIL_MOUNT] = "enter a mount namespace",
	[JAIL_NET] = "enter a net namespace",
	[JAIL_IPC] = "enter an ipc namespace",
	[JAIL_UTS] = "enter a uts namespace",
	[JAIL_CGROUPNS] = "enter a cgroup namespace",
};

int ns_flag(enum jail_control c)
{
	return c < JAIL_CONTROLS && flags[c] ? flags[c] : -1;
}

const char *ns_enter(uint32_t want)
{
	const char *what = "enter mount, net, ipc, uts and cgroup namespaces";
	int all = 0;

	for (int c = 0; c < JAIL_CONTROLS; c++) {
		if (!(want & 1u << c) || !flags[c])
			continue;
		what = all ? what : words[c];
		all |= flags[c];
	}
	return unshare(all) ? what : NULL;
}

const char *ns_hostname(void)
{
	struct utsname u;

	if (sethostname(HOSTNAME, strlen(HOSTNAME)) || setdomainname("", 0))
		return "set the hostname";
	if (uname(&u) || strcmp(u.nodename, HOSTNAME))
		return "verify the hostname";
	return NULL;
}

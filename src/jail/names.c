#include "jail/jail.h"

#include <errno.h>
#include <string.h>

static const char *const names[JAIL_CONTROLS] = {
	[JAIL_USER] = "user",
	[JAIL_MOUNT] = "mount",
	[JAIL_PID] = "pid",
	[JAIL_NET] = "net",
	[JAIL_IPC] = "ipc",
	[JAIL_UTS] = "uts",
	[JAIL_CGROUPNS] = "cgroup-namespace",
	[JAIL_CAPS] = "capabilities",
	[JAIL_NNP] = "no-new-privs",
	[JAIL_LANDLOCK] = "landlock",
	[JAIL_RLIMITS] = "rlimits",
	[JAIL_SECCOMP] = "seccomp",
	[JAIL_CGROUP] = "cgroup",
};

/* Where AppArmor restricts user namespaces, one is made and then lacks its
 * capabilities; container filters deny the calls. */
#define NEEDS_CAPS                                                           \
	"it takes capabilities in a user namespace (AppArmor: a profile with " \
	"\"userns,\"; container: a filter that allows mount and unshare)"

#define SYSTEMD                                                              \
	" (systemd: Delegate=yes, or systemd-run --user --scope -p "         \
	"Delegate=yes)"

static const struct {
	enum jail_control control;
	int sys; /* 0: any other */
	const char *text;
} remedies[] = {
	{JAIL_USER, ENOSPC,
	 "raise user.max_user_namespaces (sysctl) above 0"},
	{JAIL_USER, EPERM,
	 "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), "
	 "leave the chroot, or allow unshare in the container's filter"},
	{JAIL_USER, EACCES,
	 "allow user namespaces to this program in AppArmor (a profile with "
	 "\"userns,\") or SELinux"},
	{JAIL_USER, ENODATA,
	 "map one more id into it (its only one is root of the host), or start "
	 "as an ordinary user"},
	{JAIL_USER, ENOSYS,
	 "leave the sandbox whose filter forbids unshare (a jail of Redoma is "
	 "one), or use a kernel with CONFIG_USER_NS"},
	{JAIL_USER, 0, "use a kernel with user namespaces (CONFIG_USER_NS)"},
	{JAIL_MOUNT, EPERM, NEEDS_CAPS},
	{JAIL_MOUNT, EACCES, NEEDS_CAPS},
	{JAIL_MOUNT, ENOSYS,
	 "use Linux 5.12 or newer, and no container filter against fsopen"},
	{JAIL_MOUNT, EINVAL,
	 "leave the chroot (its / is no mount), or use Linux 5.12 or newer"},
	{JAIL_MOUNT, ENOENT, "mount procfs on /proc"},
	{JAIL_MOUNT, ENODEV, "mount procfs on /proc"},
	{JAIL_MOUNT, ENOSPC, "raise user.max_mnt_namespaces (sysctl)"},
	{JAIL_MOUNT, 0, "allow mounts inside user namespaces on this host"},
	{JAIL_PID, ENOSYS,
	 "use Linux 5.3 or newer, and no container filter against clone3"},
	{JAIL_PID, EPERM, NEEDS_CAPS},
	{JAIL_PID, 0, "allow pid namespaces (user.max_pid_namespaces)"},
	{JAIL_NET, EPERM, NEEDS_CAPS},
	{JAIL_NET, 0, "allow net namespaces (user.max_net_namespaces)"},
	{JAIL_IPC, EPERM, NEEDS_CAPS},
	{JAIL_IPC, 0, "allow ipc namespaces (user.max_ipc_namespaces)"},
	{JAIL_UTS, EPERM, NEEDS_CAPS},
	{JAIL_UTS, 0, "allow uts namespaces (user.max_uts_namespaces)"},
	{JAIL_CGROUPNS, EPERM, NEEDS_CAPS},
	{JAIL_CGROUPNS, 0,
	 "allow cgroup namespaces (user.max_cgroup_namespaces)"},
	{JAIL_CAPS, EPERM, NEEDS_CAPS},
	{JAIL_CAPS, 0,
	 "remove what keeps this process from giving up capabilities"},
	{JAIL_NNP, 0, "remove what filters prctl(PR_SET_NO_NEW_PRIVS)"},
	{JAIL_LANDLOCK, EOPNOTSUPP,
	 "use Linux 5.19 or newer and enable Landlock at boot: add landlock "
	 "to the kernel's lsm= parameter"},
	{JAIL_LANDLOCK, 0,
	 "use Linux 5.19 or newer with CONFIG_SECURITY_LANDLOCK"},
	{JAIL_RLIMITS, 0, "remove what filters setrlimit"},
	{JAIL_SECCOMP, ENOEXEC, "build redoma for this machine"},
	{JAIL_SECCOMP, 0, "use a kernel with CONFIG_SECCOMP_FILTER"},
	{JAIL_CGROUP, ENOENT,
	 "mount /sys/fs/cgroup and delegate a part of it" SYSTEMD},
	{JAIL_CGROUP, EROFS,
	 "mount /sys/fs/cgroup writable and delegate a part of it" SYSTEMD},
	{JAIL_CGROUP, 0,
	 "delegate a cgroup with the memory controller" SYSTEMD},
};

const char *jail_control_name(enum jail_control c)
{
	return c < JAIL_CONTROLS ? names[c] : "unknown";
}

int jail_control_find(const char *name)
{
	for (int c = 0; c < JAIL_CONTROLS; c++)
		if (!strcmp(names[c], name))
			return c;
	return -1;
}

const char *jail_remedy(enum jail_control c, int sys)
{
	for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
		if (remedies[i].control == c &&
		    (!remedies[i].sys || remedies[i].sys == sys))
			return remedies[i].text;
	return "see the manual";
}

/* The map of a user namespace can be written by an unprivileged process only
 * for its own id, and only if it is dumpable: the files under /proc/self of a
 * non-dumpable process belong to root (proc(5)). */
#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"

#define ID_NONE UINT_MAX

static int read_map(const char *path, char text[IDMAP_BYTES])
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, IDMAP_BYTES - 1);

	if (n < 0)
		return -1;
	text[n] = 0;
	return 0;
}

/* The id to become: the wanted one if the map has it, else the highest that
 * it has besides 0, else ID_NONE; then *ret_outer is what 0 is outside. */
static unsigned pick(const char *map, unsigned wanted, unsigned *ret_outer)
{
	unsigned inner, outer, count, best = ID_NONE;
	int used;

	*ret_outer = 0;
	while (sscanf(map, " %u %u %u%n", &inner, &outer, &count, &used) == 3) {
		map += used;
		if (!count)
			continue;
		if (wanted >= inner && wanted - inner < count)
			return wanted;
		if (inner == 0)
			*ret_outer = outer;
		if (inner + (count - 1) > 0 &&
		    (best == ID_NONE || inner + (count - 1) > best))
			best = inner + (count - 1);
	}
	return best;
}

static int raise_caps(void)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		return -1;
	d[0].effective = d[0].permitted;
	d[1].effective = d[1].permitted;
	return (int)syscall(SYS_capset, &h, d);
}

const char *idmap_become(unsigned uid, unsigned gid, bool keep_caps)
{
	uid_t r, e, s;

	if (setgroups(0, NULL))
		return "give up the supplementary groups";
	if (keep_caps && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return "keep capabilities over the change of user";
	if (setresgid(gid, gid, gid))
		return "become an unprivileged group";
	if (setresuid(uid, uid, uid))
		return "become an unprivileged user";
	if (getresuid(&r, &e, &s) || r != uid || e != uid || s != uid)
		return "verify the unprivileged user";
	if (keep_caps && raise_caps())
		return "keep capabilities over the change of user";
	return NULL;
}

static bool is_root(void)
{
	return geteuid() == 0 || getuid() == 0;
}

const char *idmap_read(struct idmaps *ret)
{
	ret->uid[0] = ret->gid[0] = 0;
	if (!is_root())
		return NULL;
	if (read_map("/proc/self/uid_map", ret->uid))
		return "read /proc/self/uid_map";
	return read_map("/proc/self/gid_map", ret->gid)
		       ? "read /proc/self/gid_map"
		       : NULL;
}

const char *idmap_choose(const struct idmaps *m, unsigned n, unsigned *ret_uid,
			 unsigned *ret_gid)
{
	unsigned wanted = JAIL_ID_BASE + n % JAIL_ID_COUNT;
	unsigned uid, gid, outer_uid, outer_gid;

	if (!is_root())
		return NULL;
	uid = pick(m->uid, wanted, &outer_uid);
	gid = pick(m->gid, wanted, &outer_gid);
	if (uid != ID_NONE && gid != ID_NONE) {
		*ret_uid = uid;
		*ret_gid = gid;
		return NULL;
	}
	/* The only id of this user namespace is 0.  That is the same as being
	 * an ordinary user, unless that user is root outside. */
	if (outer_uid != 0 && outer_gid != 0)
		return NULL;
	errno = ENODATA;
	return "find an unprivileged id in this user namespace";
}

const char *idmap_drop(bool keep_caps)
{
	unsigned uid = ID_NONE, gid = ID_NONE;
	struct idmaps m;
	const char *what = idmap_read(&m);

	if (!what)
		what = idmap_choose(&m, (unsigned)getpid(), &uid, &gid);
	return what || uid == ID_NONE ? what
				       : idmap_become(uid, gid, keep_caps);
}

static int write_map(int proc_fd, const char *process, const char *name,
		     const char *text)
{
	char path[64];
	CLEANUP_FD int fd = -1;
	size_t n = strlen(text);

	snprintf(path, sizeof path, "%s/%s", process, name);
	fd = openat(proc_fd, path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

const char *idmap_write(int proc_fd, const char *name, unsigned uid,
			unsigned gid)
{
	char line[64];

	if (write_map(proc_fd, name, "setgroups", "deny"))
		return "write /proc/self/setgroups";
	snprintf(line, sizeof line, "%u %u 1", JAIL_ID_INSIDE, gid);
	if (write_map(proc_fd, name, "gid_map", line))
		return "write /proc/self/gid_map";
	snprintf(line, sizeof line, "%u %u 1", JAIL_ID_INSIDE, uid);
	if (write_map(proc_fd, name, "uid_map", line))
		return "write /proc/self/uid_map";
	return NULL;
}

const char *idmap_enter(void)
{
	unsigned uid = geteuid(), gid = getegid();
	CLEANUP_FD int proc = -1;
	const char *what;

	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return "become dumpable to write the id maps";
	if (unshare(CLONE_NEWUSER))
		return "enter a user namespace";
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return "open /proc to write the id maps";
	what = idmap_write(proc, "self", uid, gid);
	return what ? what : idmap_verify();
}

const char *idmap_become_inside(void)
{
	if (setresgid(JAIL_ID_INSIDE, JAIL_ID_INSIDE, JAIL_ID_INSIDE))
		return "become the group inside the user namespace";
	if (setresuid(JAIL_ID_INSIDE, JAIL_ID_INSIDE, JAIL_ID_INSIDE))
		return "become the user inside the user namespace";
	return idmap_verify();
}

const char *idmap_verify(void)
{
	if (getuid() != JAIL_ID_INSIDE || geteuid() != JAIL_ID_INSIDE ||
	    getgid() != JAIL_ID_INSIDE || getegid() != JAIL_ID_INSIDE) {
		errno = EPERM;
		return "verify the id inside the user namespace";
	}
	return NULL;
}

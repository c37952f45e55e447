/* What cgroups(7) offers here, learned by making a directory below our own. */
#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"

struct place { /* a hierarchy, and where this process stands in it */
	bool there;
	char path[PATH_MAX]; /* below the hierarchy's root */
	char dir[PATH_MAX];  /* in the file system; "": not mounted */
};

struct places {
	struct place v1; /* the one with the memory controller */
	struct place v2;
};

static void close_stream(FILE **f)
{
	if (*f)
		fclose(*f);
}

static bool lists(const char *words, const char *word, const char *separators)
{
	size_t n = strlen(word);

	for (;;) {
		size_t len = strcspn(words, separators);

		if (len == n && !memcmp(words, word, n))
			return true;
		if (!words[len])
			return false;
		words += len + 1;
	}
}

static void find_paths(struct places *p)
{
	CLEANUP(close_stream) FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 256];

	while (f && fgets(line, sizeof line, f)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;
		struct place *at;

		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		at = !names[1] ? &p->v2 : NULL;
		if (lists(names + 1, "memory", ","))
			at = &p->v1;
		if (!at || strlen(path) >= sizeof at->path)
			continue;
		at->there = true;
		strcpy(at->path, path);
	}
}

/* proc_pid_mountinfo(5): the mount shows `root` of the hierarchy at `point`. */
static void place_dir(struct place *p, const char *root, const char *point)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;
	const char *rest = strncmp(p->path, root, n) ? "" : p->path + n;
	int len;

	if (!p->there || p->dir[0])
		return;
	len = snprintf(p->dir, sizeof p->dir, "%s%s", point, rest);
	if (len < 0 || (size_t)len >= sizeof p->dir)
		p->dir[0] = 0;
}

static void find_mounts(struct places *p)
{
	CLEANUP(close_stream) FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX + 512], root[PATH_MAX], point[PATH_MAX];
	char type[64], options[512];

	while (f && fgets(line, sizeof line, f)) {
		char *tail = strstr(line, " - ");

		if (!tail)
			continue;
		if (sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2)
			continue;
		if (sscanf(tail, " - %63s %*s %511s", type, options) != 2)
			continue;
		if (!strcmp(type, "cgroup2"))
			place_dir(&p->v2, root, point);
		else if (!strcmp(type, "cgroup") &&
			 lists(options, "memory", ","))
			place_dir(&p->v1, root, point);
	}
}

static int open_dir(const struct place *p)
{
	if (!p->dir[0]) {
		errno = ENOENT;
		return -1;
	}
	return open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* 0, or the errno of why no directory can be made. */
static int try_mkdir(const struct place *p)
{
	CLEANUP_FD int dir = open_dir(p);
	char name[64];

	snprintf(name, sizeof name, "redoma-probe-%d-%ld", getpid(),
		 syscall(SYS_gettid));
	if (dir < 0 || mkdirat(dir, name, 0755))
		return errno;
	return unlinkat(dir, name, AT_REMOVEDIR) ? errno : 0;
}

static bool has_memory(const struct place *p)
{
	CLEANUP_FD int dir = open_dir(p);
	CLEANUP_FD int fd = -1;
	char text[512];
	ssize_t n;

	if (dir < 0 || faccessat(dir, "cgroup.subtree_control", W_OK, 0))
		return false;
	fd = openat(dir, "cgroup.controllers", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (n < 0)
		return false;
	text[n] = 0;
	return lists(text, "memory", " \n");
}

enum jail_cgroups cgroup_detect(int *ret_sys)
{
	struct places p = {0};
	int v1, v2;

	find_paths(&p);
	find_mounts(&p);
	v1 = try_mkdir(&p.v1);
	v2 = try_mkdir(&p.v2);
	*ret_sys = 0;
	if (!v1)
		return v2 ? JAIL_CGROUPS_V1 : JAIL_CGROUPS_HYBRID;
	if (!v2 && has_memory(&p.v2))
		return JAIL_CGROUPS_V2;
	if (!p.v1.dir[0] && !p.v2.dir[0]) {
		*ret_sys = ENOENT;
		return JAIL_CGROUPS_NONE;
	}
	*ret_sys = p.v1.dir[0] ? v1 : v2 ? v2 : EOPNOTSUPP;
	return JAIL_CGROUPS_DENIED;
}

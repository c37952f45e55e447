/* Where this process stands in each hierarchy: /proc/self/cgroup has the path
 * in the hierarchy, /proc/self/mountinfo which part of it is shown where. */
#include "jail/group_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

#define ABOVE_MAX 1024 /* longer paths of a process are taken as none */

struct found {
	uint32_t has;
	char path[ABOVE_MAX];
};

struct finds {
	struct found f[HIER_MAX];
	size_t n;
};

static const struct {
	const char *name;
	uint32_t has;
} controllers[] = {
	{"memory", HIER_MEMORY},
	{"pids", HIER_PIDS},
	{"cpu", HIER_CPU},
	{"cpuacct", HIER_CPUACCT},
};

static void close_stream(FILE **f)
{
	if (*f)
		fclose(*f);
}

static uint32_t listed(const char *names)
{
	uint32_t has = 0;

	for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
		if (gtext_lists(names, controllers[i].name, ","))
			has |= controllers[i].has;
	return has;
}

/* cgroups(7): "hierarchy-ID:controller-list:cgroup-path". */
static void find_paths(struct finds *all)
{
	CLEANUP(close_stream) FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX + 256];

	while (f && all->n < HIER_MAX && fgets(line, sizeof line, f)) {
		struct found *at = &all->f[all->n];
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = 0;
		path[strcspn(path, "\n")] = 0;
		at->has = names[1] ? listed(names + 1) : HIER_UNIFIED;
		if (!at->has || strlen(path) >= sizeof at->path)
			continue;
		strcpy(at->path, path);
		all->n++;
	}
}

/* What the mount of the hierarchy's directory `root` shows of `path`; NULL:
 * nothing. */
static const char *below(const char *path, const char *root)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, n) || (path[n] && path[n] != '/') ||
	    !strncmp(path, "/..", 3))
		return NULL;
	return path[n] == '/' && !path[n + 1] ? "" : path + n;
}

/* Unified first, then the one that stops forks: the order to kill in. */
static size_t position(const struct place *p, uint32_t has)
{
	if (has & HIER_UNIFIED)
		return 0;
	if (has & HIER_PIDS)
		return p->n && p->h[0].has & HIER_UNIFIED;
	return p->n;
}

static void take(struct place *p, const struct found *f, const char *dir)
{
	int fd = fd_lift(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	size_t i = position(p, f->has);

	if (fd < 0) {
		p->sys = errno;
		return;
	}
	memmove(&p->h[i + 1], &p->h[i], (p->n - i) * sizeof *p->h);
	p->h[i] = (struct hier){.has = f->has, .place = fd};
	p->n++;
}

static bool is_aside(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && !strncmp(name + 1, GROUP_ASIDE, strlen(GROUP_ASIDE));
}

static bool taken(const struct place *p, uint32_t has)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->h[i].has == has)
			return true;
	return false;
}

/* proc_pid_mountinfo(5): the mount shows `root` of the hierarchy at `point`. */
static void find_mount(struct place *p, const struct finds *all, char *line)
{
	char root[ABOVE_MAX], point[ABOVE_MAX], dir[2 * ABOVE_MAX];
	char type[64], options[512];
	const char *rest, *tail = strstr(line, " - ");
	uint32_t has;

	if (!tail ||
	    sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) != 2 ||
	    sscanf(tail, " - %63s %*s %511s", type, options) != 2)
		return;
	if (strcmp(type, "cgroup") && strcmp(type, "cgroup2"))
		return;
	has = strcmp(type, "cgroup") ? HIER_UNIFIED : listed(options);
	for (size_t i = 0; has && i < all->n; i++) {
		if (all->f[i].has != has || taken(p, has))
			continue;
		rest = below(all->f[i].path, root);
		if (!rest)
			continue;
		snprintf(dir, sizeof dir, "%s%s", point, rest);
		take(p, &all->f[i], dir);
		if (has != HIER_UNIFIED || !*rest || p->h[0].has != has)
			continue;
		p->aside = is_aside(rest);
		p->above = fd_lift(openat(p->h[0].place, "..",
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	}
}

void place_find(struct place *ret)
{
	CLEANUP(close_stream) FILE *f = NULL;
	struct finds all = {0};
	char line[2 * ABOVE_MAX + 1024];

	*ret = (struct place){.above = -1};
	/* sd_booted(3) */
	ret->marked = !access("/run/systemd/system", F_OK);
	find_paths(&all);
	f = fopen("/proc/self/mountinfo", "re");
	while (f && fgets(line, sizeof line, f))
		find_mount(ret, &all, line);
	if (!ret->n && !ret->sys)
		ret->sys = ENOENT;
}

void place_close(struct place *p)
{
	for (size_t i = 0; i < p->n; i++)
		close(p->h[i].place);
	cleanup_fd(&p->above);
	*p = (struct place){.above = -1};
}

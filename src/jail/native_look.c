/* One jail as its spawner sees it.  What init said of itself is not taken for
 * granted: a step that was left out shows in /proc, from where no word of the
 * jail can change it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/group_steps.h"
#include "jail/native_state.h"

#define WHERE "jail"
#define TEXT_MAX 8192
#define BIT(c) (1u << (c))
#define PAYLOADS_MAX 16

struct looked { /* at one process */
	uint64_t uid[4], gid[4], own_pid, depth;
	uint64_t caps, bounding, others; /* permitted and effective; the
					    bounding set; all else */
	uint64_t no_new, seccomp;
	bool groups;
};

static int read_of(const struct native *n, pid_t pid, const char *name,
		   char text[TEXT_MAX])
{
	char path[64];
	CLEANUP_FD int fd = -1;
	ssize_t len;

	snprintf(path, sizeof path, "%d/%s", pid, name);
	fd = openat(n->j.proc_fd, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, TEXT_MAX - 1);
	if (len < 0)
		return -1;
	text[len] = '\0';
	return 0;
}

/* The numbers of one line of proc_pid_status(5); how many there are. */
static size_t numbers(const char *text, const char *key, int base,
		      uint64_t *to, size_t max)
{
	const char *at = strstr(text, key);
	char *end;
	size_t n = 0;

	for (at = at ? at + strlen(key) : NULL; at && n < max; at = end) {
		uint64_t v;

		at += strspn(at, " \t");
		v = strtoull(at, &end, base);
		if (end == at)
			break;
		to[n++] = v;
	}
	return n;
}

static uint64_t hex(const char *text, const char *key)
{
	uint64_t v = UINT64_MAX; /* of a line that is not there */

	(void)numbers(text, key, 16, &v, 1);
	return v;
}

static void parse(const char *text, struct looked *l)
{
	uint64_t spaces[34], one;

	memset(l, 0xff, sizeof *l);
	(void)numbers(text, "\nUid:", 10, l->uid, 4);
	(void)numbers(text, "\nGid:", 10, l->gid, 4);
	l->groups = numbers(text, "\nGroups:", 10, &one, 1) != 0;
	l->depth = numbers(text, "\nNSpid:", 10, spaces, 34);
	l->own_pid = l->depth ? spaces[l->depth - 1] : 0;
	l->caps = hex(text, "\nCapPrm:") | hex(text, "\nCapEff:");
	l->bounding = hex(text, "\nCapBnd:");
	l->others = hex(text, "\nCapInh:") | hex(text, "\nCapAmb:");
	(void)numbers(text, "\nNoNewPrivs:", 10, &l->no_new, 1);
	(void)numbers(text, "\nSeccomp:", 10, &l->seccomp, 1);
}

static bool is_one(const uint64_t id[4])
{
	return id[0] && id[0] == id[1] && id[0] == id[2] && id[0] == id[3];
}

/* One line, for one id. */
static bool maps_one(const struct native *n, pid_t pid)
{
	char text[TEXT_MAX];
	uint64_t map[4];

	return !read_of(n, pid, "uid_map", text) &&
	       numbers(text, "", 10, map, 3) == 3 &&
	       map[0] == JAIL_ID_INSIDE && map[2] == 1 &&
	       strchr(text, '\n') && !strchr(text, '\n')[1];
}

/* Interfaces follow two lines of headings. */
static bool has_only_loopback(const struct native *n, pid_t pid)
{
	char text[TEXT_MAX];
	const char *at;

	if (read_of(n, pid, "net/dev", text))
		return false;
	at = strchr(text, '\n');
	at = at ? strchr(at + 1, '\n') : NULL;
	if (!at)
		return false;
	at += 1 + strspn(at + 1, " ");
	if (!*at)
		return true;
	at = strncmp(at, "lo:", 3) ? NULL : strchr(at, '\n');
	return at && !at[1];
}

/* A mount namespace, and not ours. */
static bool is_other_space(const struct native *n, int space_fd)
{
	struct stat ours, its;

	return !fstatat(n->j.proc_fd, "self/ns/mnt", &ours, 0) &&
	       space_fd >= 0 && !fstat(space_fd, &its) &&
	       its.st_dev == ours.st_dev && its.st_ino != ours.st_ino;
}

struct check {
	const struct native *n;
	const struct native_look *q;
	struct looked l;
};

static bool claims(const struct check *c, enum jail_control control)
{
	return c->q->state[control] == JAIL_ENFORCED;
}

static int refuse(enum jail_control c, const char *what,
		  struct redoma_error *err)
{
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "a jail says that \"%s\" is enforced, but seen from "
		       "outside %s; it was ended before its run: the "
		       "installation may be damaged, install it anew",
		       jail_control_name(c), what);
}

static int check_ids(const struct check *c, struct redoma_error *err)
{
	const struct looked *l = &c->l;

	if (!claims(c, JAIL_USER))
		return 0;
	if (!is_one(l->uid) || !is_one(l->gid) || l->groups)
		return refuse(JAIL_USER, "its user is not one unprivileged id",
			      err);
	return 0;
}

static int check_caps(const struct check *c, uint64_t may,
		      struct redoma_error *err)
{
	const struct looked *l = &c->l;

	if (claims(c, JAIL_CAPS) &&
	    (l->caps & ~may || l->bounding || l->others))
		return refuse(JAIL_CAPS, "it holds capabilities", err);
	if (claims(c, JAIL_NNP) && l->no_new != 1)
		return refuse(JAIL_NNP, "it may gain privileges", err);
	return 0;
}

static int check_init(const struct check *c, struct redoma_error *err)
{
	const struct native *n = c->n;
	pid_t pid = c->q->pid;
	int r = check_ids(c, err);

	if (!r)
		r = check_caps(c, BIT(CAP_SYS_ADMIN), err);
	if (r)
		return r;
	if (claims(c, JAIL_PID) && (c->l.depth < 2 || c->l.own_pid != 1))
		return refuse(JAIL_PID, "it is not the first of its pid "
			      "namespace", err);
	if (claims(c, JAIL_USER) && !maps_one(n, pid))
		return refuse(JAIL_USER, "its user namespace has other ids",
			      err);
	if (claims(c, JAIL_NET) && !has_only_loopback(n, pid))
		return refuse(JAIL_NET, "it has network interfaces", err);
	if (claims(c, JAIL_MOUNT) && !is_other_space(n, c->q->space_fd))
		return refuse(JAIL_MOUNT, "it shows no mount namespace of its "
			      "own", err);
	if (claims(c, JAIL_CGROUP) &&
	    (!c->q->group || !group_holds(c->q->group, pid)))
		return refuse(JAIL_CGROUP, "it is not in its control group",
			      err);
	return 0;
}

/* A bootstrap is locked already. */
static int check_payload(const struct check *c, struct redoma_error *err)
{
	int r = check_ids(c, err);

	if (!r)
		r = check_caps(c, 0, err);
	if (r)
		return r;
	if (claims(c, JAIL_SECCOMP) && c->l.seccomp != SECCOMP_MODE_FILTER)
		return refuse(JAIL_SECCOMP, "its program has no filter of "
			      "system calls", err);
	return 0;
}

/* 1: it is not to be seen, since it is gone, or /proc of the host hides it. */
static int look_at(struct check *c, pid_t pid)
{
	char text[TEXT_MAX];

	if (read_of(c->n, pid, "status", text))
		return 1;
	parse(text, &c->l);
	return 0;
}

static int check_payloads(struct check *c, struct redoma_error *err)
{
	char name[32], text[TEXT_MAX];
	uint64_t pids[PAYLOADS_MAX];
	size_t len;
	int r = 0;

	snprintf(name, sizeof name, "task/%d/children", c->q->pid);
	if (read_of(c->n, c->q->pid, name, text))
		return 0;
	len = numbers(text, "", 10, pids, PAYLOADS_MAX);
	for (size_t i = 0; i < len && !r; i++)
		if (!look_at(c, (pid_t)pids[i]))
			r = check_payload(c, err);
	return r;
}

int native_look(const struct native *n, const struct native_look *q,
		uint32_t *ret_uid, struct redoma_error *err)
{
	struct check c = {.n = n, .q = q};
	int r;

	*ret_uid = 0;
	if (look_at(&c, q->pid))
		return 0;
	r = check_init(&c, err);
	/* Of an ordinary user's jails all have that user's. */
	if (!r && n->maps)
		*ret_uid = (uint32_t)c.l.uid[0];
	return r || !q->runs ? r : check_payloads(&c, err);
}

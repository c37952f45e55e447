/* jail/group_steps.h - the parts of jail/group.h, for each other and for tests.
 *
 * Files of a control group are named by three parts: the descriptor of the
 * directory where all groups here are made, the group below it, the file. */
#ifndef JAIL_GROUP_STEPS_H
#define JAIL_GROUP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "jail/group.h"

#define GROUP_WHERE "cgroup"
#define HIER_MAX 5
#define GROUP_PATH_MAX 160 /* of a group, or a file in it */
#define GROUP_TEXT_MAX 4096

enum hier_has { /* bits: what a hierarchy controls */
	HIER_MEMORY = 1,
	HIER_PIDS = 2,
	HIER_CPU = 4,
	HIER_CPUACCT = 8,
	HIER_UNIFIED = 16 /* cgroup v2's interface */
};

struct hier {
	uint32_t has; /* enum hier_has */
	int place;    /* where our directory is made */
	bool born;    /* clone3 puts the child into it */
};

struct place { /* unified first, then the one with pids */
	struct hier h[HIER_MAX];
	size_t n;
	int above;   /* parent of the unified one's place; -1: none */
	bool aside;  /* the place is a leaf that a maker of ours moved to */
	bool marked; /* systemd rules: only what it marked is delegated */
	bool lean;   /* memory and pids are all that is wanted */
	int sys;     /* why something is missing; 0: nothing known */
};

struct groups {
	struct hier h[HIER_MAX];
	size_t n;
	enum jail_cgroups kind;
	uint32_t can; /* enum group_can */
	pid_t maker;
	bool inside; /* the maker stepped in */
	char name[96]; /* the maker's directory */
	uint64_t next; /* name of the next group */
};

struct group {
	struct groups *g; /* borrowed */
	char at[128]; /* from the places */
	int birth_fd; /* -1: none */
	int join_fds[HIER_MAX]; /* where birth does not do it; -1 */
	int event_fd; /* v1: an eventfd; v2: an epoll of watch_fd; -1: none */
	int watch_fd; /* v2: memory.events; -1: none */
	uint64_t oom_seen;
	struct group_limits set; /* what it has */
};

/* group_file.c.  -1 with errno. */
int gfile_open(int place, const char *at, const char *name, int flags);
/* The text, NUL-terminated, at most GROUP_TEXT_MAX bytes of it. */
int gfile_read(int place, const char *at, const char *name,
	       char text[GROUP_TEXT_MAX]);
int gfile_put(int fd, const char *text);
int gfile_write(int place, const char *at, const char *name, const char *text);
bool gfile_exists(int place, const char *at, const char *name);
/* The number after `key` at the beginning of a line, or, key NULL, the whole
 * text; "max" is UINT64_MAX. */
bool gtext_number(const char *text, const char *key, uint64_t *ret);
int gfile_number(int place, const char *at, const char *name, const char *key,
		 uint64_t *ret);
bool gtext_lists(const char *words, const char *word, const char *separators);
/* Writes and reads back: REDOMA_E_UNSUPPORTED if what is kept is not the value,
 * rounded down by less than `round`. */
struct gset {
	const char *name;
	uint64_t value, round;
};
MUST_CHECK int gfile_set(int place, const char *at, const struct gset *s,
			 struct redoma_error *err);
/* First hierarchy that has all bits; NULL: none. */
const struct hier *groups_with(const struct groups *g, uint32_t has);

#define GROUP_ASIDE "redoma-self-" /* and the pid of the maker */
#define GROUP_MAKER "maker" /* the leaf that it steps in */

/* group_place.c: the directories of this process. */
void place_find(struct place *ret);
void place_close(struct place *p);

/* group_v2.c: which directory takes groups, in p->h[0]; its controllers are
 * enabled. */
MUST_CHECK int v2_choose(struct place *p, struct redoma_error *err);
/* Whether it would find one for a child of this process; changes nothing. */
bool v2_fits(const struct place *p);
/* Turns on the controllers of h->has for the children of `at`. */
MUST_CHECK int v2_enable(const struct hier *h, const char *at,
			 struct redoma_error *err);

/* group_kill.c */
/* SIGKILL to everything in one group of one hierarchy, once; the number that
 * lived, or -1: gone or unreadable. */
int gkill_round(const struct hier *h, const char *at);
int gkill_all(const struct groups *g, const char *at, int wait_ms,
			 struct redoma_error *err);
/* Removes one directory of every hierarchy; EBUSY is tried for a while. */
int groups_rmdir(const struct groups *g, const char *at,
		 struct redoma_error *err);
void group_free(struct group *c); /* closes */

/* group_sweep.c */
MUST_CHECK int maker_name(char name[96], int k, struct redoma_error *err);
int gclear_all(const struct groups *g, int wait_ms, struct redoma_error *err);

/* group_open.c: groups_open with known places, which are taken. */
MUST_CHECK int groups_open_at(struct place *p, struct groups **ret,
			      struct redoma_error *err);
/* group_watch.c: a descriptor that becomes readable when the file changes;
 * *ret_file is the file. -1 with errno. */
int group_watch(int place, const char *at, const char *name, int *ret_file);
/* The two kinds of memory.oom notice; fills c->event_fd. */
MUST_CHECK int group_watch_oom(struct group *c, struct redoma_error *err);

#endif

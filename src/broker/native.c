#include "broker/native.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include "broker/sealed.h"

#define WHERE "policy"

static int refuse(const struct sealed *s, uint32_t i, const char *why,
		  struct redoma_error *err)
{
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE, "read %s: %s",
		       SHOW(str_of(s->held[i].host)), why);
}

static int check_counted(const struct sealed *s, uint32_t i,
			 struct redoma_error *err)
{
	const struct plan_grant *g = &s->plan.grants[i];

	if (g->opens != UINT64_MAX)
		return refuse(s, i, "`opens` cannot be counted for a native "
			      "program; take it out", err);
	if (g->max_bytes != UINT64_MAX)
		return refuse(s, i, "`max_bytes` of a read cannot be counted "
			      "for a native program; take it out, or grant a "
			      "range with `bytes`", err);
	if (g->via_core)
		return refuse(s, i, "a range of more than 64 MiB cannot be "
			      "shown to a native program; grant less, or the "
			      "whole file", err);
	return 0;
}

/* In place of a descriptor that reads, one that names. */
static int name_only(int *fd)
{
	int named = open_tree(*fd, "", AT_EMPTY_PATH | OPEN_TREE_CLOEXEC);

	if (named < 0)
		return -1;
	close(*fd);
	*fd = named;
	return 0;
}

static int fit_file(struct sealed *s, uint32_t i, bool other_user,
		    struct redoma_error *err)
{
	struct plan_grant *g = &s->plan.grants[i];
	struct stat st;

	if (fstat(g->fd, &st))
		return err_sys(err, WHERE, "read %s",
			       SHOW(str_of(s->held[i].host)));
	/* A sealed copy is in no directory; what others may not read cannot be
	 * opened by the program's user. */
	g->via_core = fcntl(g->fd, F_GET_SEALS) >= 0 ||
		      (other_user && !(st.st_mode & S_IROTH));
	if (g->via_core &&
	    (uint64_t)st.st_size > s->plan.limits.memory_bytes / 2)
		return refuse(s, i, "others may not read it, and a copy takes "
			      "more than half of limits.memory: allow others "
			      "to read it, or raise limits.memory", err);
	if (!g->via_core && name_only(&g->fd))
		return err_sys(err, WHERE, "read %s",
			       SHOW(str_of(s->held[i].host)));
	return 0;
}

static int fit_dir(struct sealed *s, uint32_t i, bool other_user,
		   struct redoma_error *err)
{
	const mode_t open_to_all = S_IROTH | S_IXOTH;
	struct plan_grant *g = &s->plan.grants[i];
	struct stat st;

	if (fstat(s->held[i].fd, &st))
		return err_sys(err, WHERE, "read %s",
			       SHOW(str_of(s->held[i].host)));
	if (other_user && (st.st_mode & open_to_all) != open_to_all)
		return refuse(s, i, "others may not read this directory, and a "
			      "native program runs as another user: chmod "
			      "o+rx it, or grant its files singly", err);
	g->fd = fcntl(s->held[i].fd, F_DUPFD_CLOEXEC, 3);
	return g->fd < 0 ? err_sys(err, WHERE, "read %s",
				   SHOW(str_of(s->held[i].host)))
			 : 0;
}

/* They are made anew for each jail. */
static int check_place(const struct sealed *s, uint32_t i,
		       struct redoma_error *err)
{
	static const char *const ours[] = {"/proc", "/dev"};
	const char *guest = s->plan.grants[i].guest;

	for (size_t k = 0; k < sizeof ours / sizeof *ours; k++) {
		size_t n = strlen(ours[k]);

		if (!strncmp(guest, ours[k], n) &&
		    (!guest[n] || guest[n] == '/'))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "%s: %s of a native program is made for "
				       "each run; choose another place",
				       SHOW(str_of(guest)), ours[k]);
	}
	return 0;
}

int seal_native(struct sealed *s, bool other_user, struct redoma_error *err)
{
	int r = 0;

	for (uint32_t i = 0; i < s->plan.n_grants && !r; i++) {
		r = check_place(s, i, err);
		if (r || s->plan.grants[i].kind > GRANT_READ_DIR)
			continue;
		r = check_counted(s, i, err);
		if (!r && s->plan.grants[i].kind == GRANT_READ_FILE)
			r = fit_file(s, i, other_user, err);
		else if (!r)
			r = fit_dir(s, i, other_user, err);
	}
	return r;
}

#include "broker/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "broker/resolve.h"
#include "broker/sealed.h"
#include "broker/stage.h"
#include "wire/frame.h"

#define WHERE "policy"

/* One grant while it is sealed. */
struct sealing {
	const struct grant *grant;
	struct resolve r;
	struct plan_grant *plan;
	struct held *held;
	struct board *board;
};

static int seal_read_file(struct sealing *g, struct redoma_error *err)
{
	const struct grant *from = g->grant;
	bool counted = from->opens != POLICY_UNSET ||
		       from->max_bytes != POLICY_UNSET;
	bool cut = from->first || from->last != POLICY_UNSET;
	struct content_want want = {
		.name = from->host,
		.sha256 = from->has_sha256 ? from->sha256 : NULL,
		.first = from->first,
		.last = from->last,
		.board = g->board,
	};
	struct content c = {.fd = -1};
	CLEANUP_FD int fd = -1;
	struct stat st;
	int e = resolve_file(&g->r, &fd, &st, err);

	if (e)
		return e;
	c.len = (uint64_t)st.st_size;
	if (cut || from->has_sha256) {
		e = content_pin(fd, &st, &want, &c, err);
		if (e)
			return e;
	}
	if (c.fd >= 0) {
		close(fd);
		fd = TAKE_FD(c.fd);
		cut = false;
	}
	g->held->first = c.first;
	g->held->len = cut || from->has_sha256 ? c.len : UINT64_MAX;
	g->held->watched = c.watched;
	g->held->id = c.id;
	g->plan->pinned = from->has_sha256;
	g->plan->via_core = counted || cut;
	if (g->plan->via_core)
		g->held->fd = TAKE_FD(fd);
	else
		g->plan->fd = TAKE_FD(fd);
	return 0;
}

static int seal_read_dir(struct sealing *g, struct redoma_error *err)
{
	if (g->grant->has_sha256 || g->grant->first ||
	    g->grant->last != POLICY_UNSET)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: sha256 and bytes are for single files, "
			       "not directories",
			       g->r.label, SHOW(str_of(g->grant->host)));
	g->plan->via_core = g->grant->max_bytes != POLICY_UNSET;
	return resolve_dir(&g->r, &g->held->fd, err);
}

static int fail_write(const struct sealing *g, struct redoma_error *err)
{
	if (errno == EACCES || errno == EPERM)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: you may not write there (permission "
			       "denied)",
			       g->r.label, SHOW(str_of(g->grant->host)));
	if (errno == EROFS)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is on a read-only file system",
			       g->r.label, SHOW(str_of(g->grant->host)));
	return err_sys(err, WHERE, "%s %s: cannot write there", g->r.label,
		       SHOW(str_of(g->grant->host)));
}

/* What stands at the place of the file to be written. */
static int check_target(const struct sealing *g, const char *name,
			struct redoma_error *err)
{
	const char *host = SHOW(str_of(g->grant->host));
	struct stat st;

	if (fstatat(g->held->fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT)
			return 0;
		return err_sys(err, WHERE, "%s %s", g->r.label, host);
	}
	if (S_ISDIR(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is a directory; to grant a directory "
			       "end its name with a slash",
			       g->r.label, host);
	if (S_ISLNK(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is a symbolic link, which is never "
			       "written through; name the real path",
			       g->r.label, host);
	if (!S_ISREG(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: is %s; only regular files can be "
			       "written",
			       g->r.label, host, resolve_kind(st.st_mode));
	if (g->grant->mode == WRITE_CREATE)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: exists already; remove it, or write "
			       "`mode: replace`",
			       g->r.label, host);
	if (g->grant->mode == WRITE_APPEND &&
	    faccessat(g->held->fd, name, W_OK, AT_EACCESS))
		return fail_write(g, err);
	return 0;
}

static int check_write(const struct sealing *g, struct redoma_error *err)
{
	if (g->grant->max_bytes == POLICY_UNSET || !g->grant->max_bytes)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s %s: needs max_bytes, the most that may be "
			       "written",
			       g->r.label, SHOW(str_of(g->grant->host)));
	return 0;
}

static int seal_write_file(struct sealing *g, struct redoma_error *err)
{
	char name[256];
	int e = check_write(g, err);

	if (!e)
		e = resolve_parent(&g->r, &g->held->fd, name, err);
	if (!e)
		e = check_target(g, name, err);
	if (e)
		return e;
	g->held->name = strdup(name);
	if (!g->held->name)
		return err_nomem(err, WHERE);
	g->plan->fd = stage_open(g->held->fd);
	if (g->plan->fd < 0)
		return fail_write(g, err);
	return 0;
}

static int seal_write_dir(struct sealing *g, struct redoma_error *err)
{
	int e = check_write(g, err);

	if (e)
		return e;
	if (g->plan->max_files == POLICY_UNSET)
		g->plan->max_files = SEAL_FILES_MAX;
	if (g->plan->max_files > SEAL_FILES_MAX)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "%s %s: max_files is over %u, the most that one "
			       "run can publish",
			       g->r.label, SHOW(str_of(g->grant->host)),
			       SEAL_FILES_MAX);
	e = resolve_dir(&g->r, &g->held->fd, err);
	if (!e && faccessat(g->held->fd, ".", W_OK | X_OK, AT_EACCESS))
		e = fail_write(g, err);
	return e;
}

static int seal_grant(struct sealed *s, int base, const struct grant *from,
		      struct redoma_error *err)
{
	static int (*const verbs[])(struct sealing *, struct redoma_error *) = {
		[GRANT_READ_FILE] = seal_read_file,
		[GRANT_READ_DIR] = seal_read_dir,
		[GRANT_WRITE_FILE] = seal_write_file,
		[GRANT_WRITE_DIR] = seal_write_dir,
	};
	const char *label = from->kind < GRANT_WRITE_FILE ? "read" : "write";
	uint32_t i = s->plan.n_grants++;
	struct sealing g = {.grant = from,
			    .plan = &s->plan.grants[i],
			    .held = &s->held[i],
			    .board = s->board};

	board_at(s->board, i);
	g.r = (struct resolve){.base = base,
			       .host = from->host,
			       .follow = from->follow,
			       .may_follow = from->kind < GRANT_WRITE_FILE,
			       .in_file = from->line > 0};
	if (from->line)
		snprintf(g.r.label, sizeof g.r.label, "line %d: %s",
			 from->line, label);
	else
		snprintf(g.r.label, sizeof g.r.label, "%s", label);
	*g.plan = (struct plan_grant){.kind = from->kind,
				      .mode = from->mode,
				      .guest = strdup(from->guest),
				      .fd = -1,
				      .max_bytes = from->max_bytes,
				      .max_files = from->max_files,
				      .last = UINT64_MAX,
				      .opens = from->opens};
	*g.held = (struct held){.fd = -1,
				.host = strdup(from->host),
				.len = UINT64_MAX,
				.opens_left = from->opens,
				.bytes_left = from->max_bytes};
	if (!g.plan->guest || !g.held->host)
		return err_nomem(err, WHERE);
	return verbs[from->kind](&g, err);
}

static int seal_grants(struct sealed *s, const struct policy *p,
		       struct redoma_error *err)
{
	CLEANUP_FD int base = -1;
	size_t i;
	int e;

	if (!p->n_grants)
		return 0;
	if (p->n_grants > PLAN_GRANTS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%zu grants are over the most, %u; grant a "
			       "directory instead",
			       p->n_grants, PLAN_GRANTS_MAX);
	s->plan.grants = calloc(p->n_grants, sizeof *s->plan.grants);
	s->held = calloc(p->n_grants, sizeof *s->held);
	if (!s->plan.grants || !s->held)
		return err_nomem(err, WHERE);
	e = resolve_base(p->base_dir, &base, err);
	for (i = 0; !e && i < p->n_grants; i++)
		e = seal_grant(s, base, &p->grants[i], err);
	return e;
}

static int check_count(const struct plan *p, struct redoma_error *err)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < p->n_grants; i++)
		n += p->grants[i].fd >= 0;
	if (n > FRAME_FDS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%zu single files are over the most, %u; grant "
			       "a directory instead",
			       n, FRAME_FDS_MAX);
	return 0;
}

static int copy_names(char *const *from, const char *first, char ***ret,
		      struct redoma_error *err)
{
	size_t i, n = 0, at = 0;
	char **to;

	while (from && from[n])
		n++;
	if (n + (first ? 1 : 0) > PLAN_NAMES_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%zu arguments or variables are over the most, "
			       "%u",
			       n, PLAN_NAMES_MAX);
	to = calloc(n + 2, sizeof *to);
	if (!to)
		return err_nomem(err, WHERE);
	*ret = to; /* freed with the plan, also when half full */
	if (first)
		to[at++] = strdup(first);
	for (i = 0; i < n && (!at || to[at - 1]); i++)
		to[at++] = strdup(from[i]);
	return at && !to[at - 1] ? err_nomem(err, WHERE) : 0;
}

int seal_open_watched(const struct policy *p, struct board *board,
		      struct sealed **ret, struct redoma_error *err)
{
	CLEANUP(seal_cleanup) struct sealed *s = calloc(1, sizeof *s);
	int e;

	if (!s)
		return err_nomem(err, WHERE);
	s->board = board;
	s->plan.limits = p->limits;
	if (!p->cpu_set)
		s->plan.limits.cpu_us = p->limits.wall_us;
	s->plan.clock = p->clock;
	s->plan.random = p->random;
	s->plan.clock_fixed_ns = p->clock_fixed_ns;
	s->plan.random_seed = p->random_seed;
	s->plan.end_on_denied = p->end_on_denied;
	e = copy_names(p->env, NULL, &s->plan.env, err);
	if (!e)
		e = seal_grants(s, p, err);
	if (!e)
		e = check_count(&s->plan, err);
	if (e)
		return e;
	*ret = TAKE_PTR(s);
	return 0;
}

int seal_open(const struct policy *p, struct sealed **ret,
	      struct redoma_error *err)
{
	return seal_open_watched(p, NULL, ret, err);
}

int seal_argv(struct sealed *s, const char *program, const char *const *args,
	      struct redoma_error *err)
{
	size_t n = 0;

	/* What a plan can carry: refused here, it is the caller's mistake. */
	for (; args && args[n]; n++)
		if (n + 1 >= PLAN_NAMES_MAX ||
		    strlen(args[n]) > PLAN_TEXT_MAX)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "argument %zu is over %u bytes, or "
				       "there are over %u: pass large data as "
				       "input or as a granted file",
				       n + 1, PLAN_TEXT_MAX,
				       PLAN_NAMES_MAX - 1);
	return copy_names((char *const *)args, program, &s->plan.argv, err);
}

int seal_tools(struct sealed *s, char *const *names, struct redoma_error *err)
{
	return names ? copy_names(names, NULL, &s->plan.tools, err) : 0;
}

const struct plan *seal_plan(const struct sealed *s)
{
	return &s->plan;
}

uint64_t seal_file_bytes(const struct sealed *s)
{
	uint64_t most = 0;
	uint32_t i;

	for (i = 0; i < s->plan.n_grants; i++) {
		const struct plan_grant *g = &s->plan.grants[i];

		if (g->kind >= GRANT_WRITE_FILE && g->max_bytes > most)
			most = g->max_bytes;
	}
	return most;
}

int seal_verify(const struct sealed *s, struct redoma_error *err)
{
	uint32_t i;

	for (i = 0; i < s->plan.n_grants; i++) {
		const struct held *h = &s->held[i];
		const char *host = SHOW(str_of(h->host));
		struct content_id id;
		struct stat st;

		if (!h->watched)
			continue;
		board_at(s->board, i);
		if (fstat(h->fd >= 0 ? h->fd : s->plan.grants[i].fd, &st))
			return err_sys(err, WHERE, "fstat %s", host);
		id = content_id(&st);
		if (!content_same(&id, &h->id))
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "read %s: was changed during the run, "
				       "so the result does not hold; run again",
				       host);
	}
	return 0;
}

bool seal_is_watched(const struct sealed *s)
{
	for (uint32_t i = 0; i < s->plan.n_grants; i++)
		if (s->held[i].watched)
			return true;
	return false;
}

size_t seal_denials(const struct sealed *s, const struct seal_denial **ret)
{
	*ret = s->denials;
	return s->n_denials;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void seal_close(struct sealed *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; s->held && i < s->plan.n_grants; i++) {
		close_fd(s->held[i].fd);
		free(s->held[i].host);
		free(s->held[i].name);
	}
	for (i = 0; i < s->n_handles; i++)
		if (s->handles[i].number)
			close_fd(s->handles[i].fd);
	for (i = 0; i < s->n_denials; i++)
		free((void *)s->denials[i].path.p);
	free(s->handles);
	free(s->scratch);
	free(s->held);
	plan_done(&s->plan);
	free(s);
}

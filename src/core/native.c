#include "core/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "core/native_root.h"
#include "core/verdict.h"
#include "jail/group.h"
#include "pool/jails.h"
#include "runtime/rows.h"

#define WHERE "core"
#define CPU_WEIGHT 100u
#define EARLY_PLACES 64 /* as jail/native.h has them */

/* What a native run has beside its job. */
struct native_run {
	struct job *job;
	const struct native_root *root; /* borrowed */
	int mounts[PLAN_GRANTS_MAX];
	size_t n_mounts;
	int cpu_fd;
	uint64_t cpu_before_us; /* to make the jail and warm its runtime up */
	struct native_dead dead;
};

static void done(struct native_run *n)
{
	struct native_dead dead;

	if (n->job->slot &&
	    jails_end(n->job->h->jails, TAKE_PTR(n->job->slot), false, &dead,
		      NULL))
		n->dead.survivors = 1;
	for (size_t i = 0; i < n->n_mounts; i++)
		close(n->mounts[i]);
	if (n->cpu_fd >= 0)
		close(n->cpu_fd);
}

/* Packages were only guessed at: they may be slow, or fail, or want more
 * memory than there is, and the run needs none of them. */
static int take_jail(struct native_run *n, struct jails_want *w,
		     struct redoma_error *err)
{
	struct job *j = n->job;
	int r;

	if (!w->setup->ahead[0])
		return jails_take(j->h->jails, w, &j->slot, err);
	w->wait_us = granted_plan(j->granted)->limits.wall_us;
	r = jails_take(j->h->jails, w, &j->slot, err);
	if (!r)
		return 0;
	native_root_plain(j);
	w->wait_us = 0;
	return jails_take(j->h->jails, w, &j->slot, err);
}

static int take(struct native_run *n, struct redoma_error *err)
{
	struct job *j = n->job;
	struct jails_want w = {
		.tenant = j->q->tenant ? j->q->tenant : "",
		.root_digest = n->root->root.digest,
		.setup = &n->root->setup,
		.root = &n->root->bytes,
	};
	uint64_t from = clock_monotonic_us();
	int r = take_jail(n, &w, err);

	if (r)
		return r;
	j->result->usage.queue_us = clock_monotonic_us() - from;
	j->result->usage.cold = j->slot->cold;
	j->result->walls = j->slot->ready;
	j->pid = j->slot->pid;
	snprintf(j->root_digest, sizeof j->root_digest, "%s",
		 n->root->root.digest);
	j->result->native = true;
	return 0;
}

static int admit(struct native_run *n, struct redoma_error *err)
{
	const struct limits *l = &granted_plan(n->job->granted)->limits;
	struct jails_admission a = {
		.limits = {.memory_bytes = l->memory_bytes,
			   .pids = n->job->policy->native.pids,
			   .cpu_weight = CPU_WEIGHT}};
	int r;

	a.n_grants = granted_mounts(n->job->granted, &a.grants);
	r = jails_admit(n->job->h->jails, n->job->slot, &a, n->mounts,
			&n->cpu_fd, err);
	if (r)
		return r;
	n->job->uid = n->job->slot->uid;
	n->n_mounts = a.n_grants;
	n->cpu_before_us = group_cpu_read(n->cpu_fd);
	return 0;
}

/* No limit that was asked for goes without somebody who holds it. */
static int check_cpu(const struct native_run *n, struct redoma_error *err)
{
	const struct policy *p = n->job->policy;

	if (n->cpu_fd >= 0 || !p->cpu_set)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "limits.cpu cannot be held here: no control group "
		       "counts the CPU time of a native program; take it out, "
		       "limits.wall holds");
}

/* What it writes to must not change once it is looked at; all else that it
 * says has been heard. */
static bool may_end_early(const struct native_run *n, const struct talk *t)
{
	const struct plan *p = granted_plan(n->job->granted);

	for (uint32_t i = 0; i < p->n_grants; i++)
		if (p->grants[i].kind >= GRANT_WRITE_FILE)
			return false;
	return t->verdict == VERDICT_OUTCOME;
}

static int end(struct native_run *n, bool early, struct redoma_error *err)
{
	return jails_end(n->job->h->jails, TAKE_PTR(n->job->slot), early,
			 &n->dead, err);
}

/* Init tells what the run used; if it had to be killed the kernel does, of
 * init and all that it reaped. */
static void account_killed(struct native_run *n)
{
	struct redoma_result *res = n->job->result;
	const struct reaped *used = &n->dead.end.used;

	res->usage.cpu_us = used->cpu_us;
	res->usage.memory_bytes = used->memory_bytes;
	res->usage.page_faults = used->page_faults;
}

static void account(struct native_run *n)
{
	struct redoma_result *res = n->job->result;
	uint64_t before =
		n->cpu_before_us != UINT64_MAX ? n->cpu_before_us : 0;

	res->pure = false;
	if (!n->dead.has_usage)
		return;
	if (n->dead.cpu_us != UINT64_MAX)
		res->usage.cpu_us =
			n->dead.cpu_us > before ? n->dead.cpu_us - before : 0;
	if (n->dead.memory_peak_bytes != UINT64_MAX)
		res->usage.memory_bytes = n->dead.memory_peak_bytes;
}

static int judge(struct native_run *n, struct talk *t, struct redoma_error *err)
{
	struct job *j = n->job;

	if (t->verdict != VERDICT_OUTCOME)
		account_killed(n);
	account(n);
	j->dead = n->dead.end;
	t->stuck = n->dead.survivors;
	/* Memory that ran out explains whatever else was seen. */
	if (n->dead.oom && t->verdict != VERDICT_CANCELLED)
		t->verdict = VERDICT_MEMORY;
	return verdict_fill(j->result, t, &n->dead.end, j->granted, err);
}

static int converse_with(struct native_run *n, struct talk *t,
			 struct redoma_error *err)
{
	struct job *j = n->job;
	struct errand e = {
		.granted = j->granted,
		.desk = j->desk,
		.mounts = n->mounts,
		.n_mounts = n->n_mounts,
		.native = true,
		.cpu_fd = n->cpu_fd,
		.module_fd = -1,
		.name = j->name,
		.source = j->q->source,
		.source_len = j->q->source_len,
		.input = j->q->input,
		.input_len = j->q->input_len,
		.on_output = j->q->on_output,
		.on_output_data = j->q->on_output_data,
	};

	return converse(j->h, j->slot, &e, t, err);
}

/* It is over for all its processes before a word of it is believed. */
static int hear_out(struct native_run *n, struct talk *t,
		    struct redoma_error *err)
{
	int r = converse_with(n, t, err);

	if (!r)
		return end(n, may_end_early(n, t), err);
	/* What its memory was too small for, before it began. */
	if (r != REDOMA_E_WORKER || end(n, false, NULL) || !n->dead.oom)
		return r;
	t->verdict = VERDICT_MEMORY;
	return 0;
}

static int execute(struct native_run *n, struct redoma_error *err)
{
	struct job *j = n->job;
	CLEANUP(talk_done) struct talk t = {.result = j->result};
	int r = hear_out(n, &t, err);

	if (!r)
		r = job_finish(j, &t, err);
	if (!r)
		r = judge(n, &t, err);
	if (!r && j->desk)
		r = desk_tell(j->desk, j->result, err);
	if (!r)
		r = granted_verify(j->granted, err);
	if (!r && j->result->status == REDOMA_STATUS_OK && t.outcome.n_written)
		r = job_publish(j, &t, err);
	if (!r)
		account(n);
	return r;
}

/* What waits for its source was started before its grants came, with places
 * for so many of each kind. */
static int check_early(const struct plan *p, struct redoma_error *err)
{
	uint32_t files = 0, dirs = 0;

	for (uint32_t i = 0; i < p->n_grants; i++) {
		files += p->grants[i].kind == GRANT_WRITE_FILE;
		dirs += p->grants[i].kind == GRANT_WRITE_DIR;
	}
	if (files <= EARLY_PLACES && dirs <= EARLY_PLACES)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "more than %d %s are granted for writing to a native "
		       "source; grant one directory instead, or run it as a "
		       "command after --",
		       EARLY_PLACES,
		       files > EARLY_PLACES ? "files" : "directories");
}

static int seal(struct job *j, const char *program, struct redoma_error *err)
{
	struct granted_want w = {.policy = j->policy,
				 .program = program,
				 .args = j->q->argv,
				 .native = true,
				 .other_user = geteuid() == 0};
	int r;

	if (!j->q->source)
		w.args++;
	r = granted_open(j->h, &w, &j->granted, err);
	if (!r && j->q->source)
		r = check_early(granted_plan(j->granted), err);
	return r;
}

/* What argv[0] of the program is to be.  A Python finds the packages of its
 * virtual environment by it, so it has to be a path inside. */
static const char *program_name(const struct job *j,
				const struct native_root *root)
{
	const struct row *row = rows_of_program(root->root.program);

	if (!j->q->source)
		return row && row->python ? root->root.program : j->q->argv[0];
	return j->name ? j->name : root->source_name;
}

int native_run(struct job *j, struct redoma_error *err)
{
	CLEANUP(done) struct native_run n = {
		.job = j, .cpu_fd = -1, .cpu_before_us = UINT64_MAX};
	struct redoma_error why = {0};
	int r = native_root_find(j, &n.root, err);

	if (r)
		return r;
	j->name = program_name(j, n.root);
	r = seal(j, j->name, &why);
	if (r && job_is_cancelled(j))
		return 0;
	if (r && err)
		*err = why;
	if (!r)
		r = take(&n, err);
	if (!r)
		r = admit(&n, err);
	if (!r)
		r = check_cpu(&n, err);
	return r ? r : execute(&n, err);
}

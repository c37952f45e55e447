#include "core/verdict.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "base/units.h"

#define WHERE "core"

bool verdict_is_bad(enum redoma_status s)
{
	return s == REDOMA_STATUS_BREACH || s == REDOMA_STATUS_CRASHED;
}

struct limit_row {
	enum redoma_status status;
	const char *name, *hint;
};

static const struct limit_row limit_rows[] = {
	{REDOMA_STATUS_WALL_LIMIT, "wall",
	 "raise limits.wall, or do less in one run"},
	{REDOMA_STATUS_CPU_LIMIT, "cpu",
	 "raise limits.cpu, or do less in one run"},
	{REDOMA_STATUS_FUEL_LIMIT, "fuel",
	 "raise limits.fuel, or do less in one run"},
	{REDOMA_STATUS_MEMORY_LIMIT, "memory",
	 "raise limits.memory, or read and build less at once"},
	{REDOMA_STATUS_STACK_LIMIT, "stack",
	 "recurse less deeply: the stack is fixed"},
	{REDOMA_STATUS_OUTPUT_LIMIT, "output",
	 "raise limits.output, or write large data to a granted file"},
	{REDOMA_STATUS_CALL_LIMIT, "calls",
	 "raise limits.calls, or call tools less often"},
};

static void limit_numbers(struct redoma_result *res, const struct limits *l)
{
	char room[UNITS_TEXT_MAX];
	char *value = res->limit_value, *used = res->limit_used;
	size_t size = sizeof res->limit_value;

	switch (res->status) {
	case REDOMA_STATUS_WALL_LIMIT:
		snprintf(value, size, "%s", units_print_time(l->wall_us, room));
		snprintf(used, size, "%s",
			 units_show_time(res->usage.wall_us, room));
		return;
	case REDOMA_STATUS_CPU_LIMIT:
		snprintf(value, size, "%s", units_print_time(l->cpu_us, room));
		snprintf(used, size, "%s",
			 units_show_time(res->usage.cpu_us, room));
		return;
	case REDOMA_STATUS_FUEL_LIMIT:
		snprintf(value, size, "%llu", (unsigned long long)l->fuel);
		return;
	case REDOMA_STATUS_MEMORY_LIMIT:
		snprintf(value, size, "%s",
			 units_print_size(l->memory_bytes, room));
		/* A worker that is gone has not told. */
		if (res->usage.memory_bytes)
			snprintf(used, size, "%s",
				 units_show_size(res->usage.memory_bytes,
						 room));
		return;
	case REDOMA_STATUS_CALL_LIMIT:
		snprintf(value, size, "%llu", (unsigned long long)l->calls);
		return;
	case REDOMA_STATUS_OUTPUT_LIMIT:
		snprintf(value, size, "%s",
			 units_print_size(l->output_bytes, room));
		return;
	default:
		return;
	}
}

static void fill_limit(struct redoma_result *res, const struct limits *l)
{
	size_t i;

	for (i = 0; i < sizeof limit_rows / sizeof *limit_rows; i++)
		if (limit_rows[i].status == res->status) {
			res->limit_name = limit_rows[i].name;
			res->limit_hint = limit_rows[i].hint;
			limit_numbers(res, l);
		}
}

static int text(struct buf *b, const char *p, size_t n,
		struct redoma_error *err)
{
	buf_clear(b);
	return buf_add(b, p, n) ? err_nomem(err, WHERE) : 0;
}

static int say(struct redoma_result *res, const char *name, const char *why,
	       struct redoma_error *err)
{
	int r = text(&res->name, name, strlen(name), err);

	return r ? r : text(&res->message, why, strlen(why), err);
}

/* A worker that is gone: what the kernel says of its end. */
static int from_death(struct redoma_result *res, const struct spawn_dead *d,
		      struct redoma_error *err)
{
	char why[120];

	if (d->code != CLD_EXITED && d->status == SIGSYS) {
		res->status = REDOMA_STATUS_BREACH;
		return say(res, "Breach",
			   "the worker made a system call outside its list "
			   "and was killed",
			   err);
	}
	/* Its own limits did not stop it; the group's did. */
	if (d->oom) {
		res->status = REDOMA_STATUS_MEMORY_LIMIT;
		return say(res, "Memory",
			   "the worker held more memory than a run may, and "
			   "was ended by its control group",
			   err);
	}
	res->status = REDOMA_STATUS_CRASHED;
	if (d->code == CLD_EXITED)
		snprintf(why, sizeof why,
			 "the worker ended by itself with code %d", d->status);
	else if (d->code)
		snprintf(why, sizeof why, "the worker was ended by signal %d",
			 d->status);
	else
		snprintf(why, sizeof why, "the worker is gone");
	return say(res, "Crash", why, err);
}

static int add_denial(struct redoma_result *res, struct str op, struct str path,
		      const struct result_denial *like)
{
	struct result_denial *to = &res->denials[res->n_denials];

	*to = *like;
	snprintf(to->op, sizeof to->op, "%.*s", (int)op.len, op.p);
	to->path = malloc(path.len + 1);
	if (!to->path)
		return -1;
	if (path.len)
		memcpy(to->path, path.p, path.len);
	to->path[path.len] = '\0';
	to->path_len = path.len;
	res->n_denials++;
	return 0;
}

/* The guest's name is known by another grant, so the host's is too. */
static int advise_host(struct result_denial *d, const struct granted *g,
		       struct buf *out)
{
	CLEANUP(buf_done) struct buf host = {0};
	CLEANUP(buf_done) struct buf name = {0};
	bool dir = !strcmp(d->op, "mkdir");
	int r;

	if (!d->path_len)
		return 1;
	r = granted_host(g, (struct str){d->path, d->path_len}, &host);
	if (r)
		return r;
	if (buf_add(&name, d->path, d->path_len) ||
	    (dir && (buf_add(&name, "/", 1) || buf_add(&host, "/", 1))))
		return -1;
	return policy_print_allow((struct str){host.data, host.len},
				  (struct str){name.data, name.len}, d->write,
				  out);
}

/* A grant of that very name is there: one of its bounds was reached. */
static int advise_more(const struct result_denial *d, const struct granted *g,
		       struct buf *out)
{
	struct policy_want want = {.op = d->op, .bytes = d->needed};
	const struct plan_grant *at =
		granted_find(g, (struct str){d->path, d->path_len}, d->write,
			     &want.host);

	if (!at || (d->write && !strcmp(d->op, "open")))
		return 1;
	return policy_print_more(at, &want, out);
}

static int add_advice(struct redoma_result *res, const struct granted *g)
{
	for (size_t i = 0; i < res->n_denials; i++) {
		CLEANUP(buf_done) struct buf b = {0};
		struct result_denial *d = &res->denials[i];
		int r = advise_more(d, g, &b);

		/* What a native program left out needs no other grant. */
		if (r > 0 && !res->native)
			r = advise_host(d, g, &b);
		if (r < 0)
			return -1;
		if (r)
			continue;
		d->allow = buf_take(&b);
		if (!d->allow)
			return -1;
	}
	return 0;
}

static bool is_told(const struct redoma_result *res, struct str path)
{
	for (size_t i = 0; i < res->n_denials; i++)
		if (str_equal(path, (struct str){res->denials[i].path,
						 res->denials[i].path_len}))
			return true;
	return false;
}

/* What the core refused and the worker did not tell of. */
static int add_sealed(struct redoma_result *res, const struct granted *g)
{
	const struct seal_denial *list;
	size_t n = granted_denials(g, &list);
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		CLEANUP(buf_done) struct buf b = {0};
		const struct seal_denial *d = &list[i];

		if (buf_addf(&b, "%s%s%.*s", d->guest,
			     d->path.len ? "/" : "", (int)d->path.len,
			     d->path.len ? d->path.p : ""))
			return -1;
		if (!is_told(res, (struct str){b.data, b.len}))
			r = add_denial(res, str_of(d->op),
				       (struct str){b.data, b.len},
				       &(struct result_denial){
					       .count = d->count,
					       .write = d->write});
	}
	return r;
}

static int copy_denials(struct redoma_result *res, const struct outcome *o,
			const struct granted *g, struct redoma_error *err)
{
	const struct seal_denial *list;
	size_t room = o->n_denials + granted_denials(g, &list);
	int r = 0;

	if (!room)
		return 0;
	res->denials = calloc(room, sizeof *res->denials);
	if (!res->denials)
		return err_nomem(err, WHERE);
	for (uint32_t i = 0; i < o->n_denials && !r; i++) {
		const struct outcome_denial *d = &o->denials[i];

		r = add_denial(res, (struct str){d->op.p, d->op.len},
			       (struct str){d->path.p, d->path.len},
			       &(struct result_denial){.count = d->count,
						       .needed = d->needed,
						       .write = d->write});
	}
	if (!r)
		r = add_sealed(res, g);
	if (!r)
		r = add_advice(res, g);
	return r ? err_nomem(err, WHERE) : 0;
}

static bool is(const struct buf *b, const char *text)
{
	return str_equal((struct str){b->data, b->len}, str_of(text));
}

/* To a guest without tools the name is not there, whatever its language. */
static int explain_tools(struct redoma_result *res, const struct plan *p,
			 struct redoma_error *err)
{
	if (p->tools && p->tools[0])
		return 0;
	if (!is(&res->message, "tools is not defined") &&
	    !is(&res->message, "name 'tools' is not defined"))
		return 0;
	return buf_addf(&res->message, ": this run was granted no tool; a "
				       "policy grants one by its name, tools: "
				       "[NAME]")
		       ? err_nomem(err, WHERE)
		       : 0;
}

static int from_outcome(struct redoma_result *res, const struct outcome *o,
			const struct granted *g, struct redoma_error *err)
{
	const struct limits *l = &granted_plan(g)->limits;
	int r = text(&res->name, o->name.p, o->name.len, err);

	if (!r)
		r = text(&res->message, o->message.p, o->message.len, err);
	if (!r)
		r = explain_tools(res, granted_plan(g), err);
	if (!r)
		r = text(&res->stack, o->stack.p, o->stack.len, err);
	if (!r)
		r = copy_denials(res, o, g, err);
	if (r)
		return r;
	res->status = (enum redoma_status)o->status;
	res->exit_code = o->exit_code;
	res->signal = o->signal;
	res->line = o->line;
	res->column = o->column;
	res->row = o->row;
	/* A limit of time is a clock too: how far it came is not repeatable. */
	res->pure = !o->used_clock && !o->used_random && !o->used_unpinned &&
		    o->status != REDOMA_STATUS_WALL_LIMIT &&
		    o->status != REDOMA_STATUS_CPU_LIMIT;
	res->usage.cpu_us = o->cpu_us;
	res->usage.reset_us = o->reset_us;
	res->usage.reset_wrong = o->resets_wrong;
	res->usage.page_faults = o->page_faults;
	res->usage.fuel = o->fuel;
	res->usage.has_fuel = l->fuel != 0;
	res->usage.memory_bytes = o->memory_bytes;
	res->usage.read_bytes = o->read_bytes;
	res->usage.written_bytes = o->written_bytes;
	return 0;
}

static int breach(struct redoma_result *res, struct redoma_error *err)
{
	res->status = REDOMA_STATUS_BREACH;
	buf_clear(&res->value);
	return say(res, "Breach",
		   "the worker broke the protocol and was killed", err);
}

/* The value goes into our JSON as it stands: it must be one. */
static int check_value(struct redoma_result *res, struct redoma_error *err)
{
	int r = res->value.len && !res->batch
			? json_validate(res->value.data, res->value.len, NULL)
			: 0;

	if (r == REDOMA_E_NOMEM)
		return err_nomem(err, WHERE);
	return r ? breach(res, err) : 0;
}

/* Of a native program init may say that it touched its wall; no worker says
 * that of itself. */
static int judge_claim(struct redoma_result *res, struct redoma_error *err)
{
	if (res->native && res->status == REDOMA_STATUS_BREACH &&
	    res->signal == SIGSYS) {
		buf_clear(&res->value);
		return say(res, "Breach",
			   "the program made a system call that no program may "
			   "make and was killed",
			   err);
	}
	return verdict_is_bad(res->status) ? breach(res, err)
					   : check_value(res, err);
}

/* A program that waits for a file system that does not answer, or that does not
 * get the CPU that it takes to end many processes. */
static int say_stuck(struct redoma_result *res, struct redoma_error *err)
{
	return say(res, "NoAnswer",
		   "the program was killed, runs nothing any more, and part of "
		   "it is not dead yet: it waits in the kernel for a granted "
		   "file whose file system does not answer, and ends when that "
		   "lets it go, or the machine has so much else to do that it "
		   "takes longer",
		   err);
}

int verdict_fill(struct redoma_result *res, const struct talk *t,
		 const struct spawn_dead *dead, const struct granted *g,
		 struct redoma_error *err)
{
	const struct limits *l = &granted_plan(g)->limits;
	int r = 0;

	switch (t->verdict) {
	case VERDICT_OUTCOME:
		r = from_outcome(res, &t->outcome, g, err);
		if (!r)
			r = judge_claim(res, err);
		break;
	case VERDICT_WALL:
		res->status = REDOMA_STATUS_WALL_LIMIT;
		if (granted_hung(g))
			r = say(res, "NoAnswer", granted_hung(g), err);
		break;
	case VERDICT_CPU:
		res->status = REDOMA_STATUS_CPU_LIMIT;
		break;
	case VERDICT_MEMORY:
		res->status = REDOMA_STATUS_MEMORY_LIMIT;
		break;
	case VERDICT_OUTPUT:
		res->status = REDOMA_STATUS_OUTPUT_LIMIT;
		break;
	case VERDICT_CALLS:
		res->status = REDOMA_STATUS_CALL_LIMIT;
		break;
	case VERDICT_DENIED:
		res->status = REDOMA_STATUS_DENIED;
		break;
	case VERDICT_CANCELLED:
		res->status = REDOMA_STATUS_CANCELLED;
		break;
	case VERDICT_GONE:
		r = from_death(res, dead, err);
		break;
	default:
		r = breach(res, err);
	}
	if (!r && t->stuck && res->status != REDOMA_STATUS_OK &&
	    !res->name.len)
		r = say_stuck(res, err);
	if (res->status != REDOMA_STATUS_OK) {
		buf_clear(&res->value);
		if (!res->exit_code)
			res->exit_code = 1;
	}
	res->truncated = res->status == REDOMA_STATUS_OUTPUT_LIMIT;
	fill_limit(res, l);
	return r;
}

#include "native/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "base/str.h"

#define SIGNAL_EXIT 128 /* what a shell calls the exit code of a signal */

static struct outcome_text words(const char *s)
{
	return (struct outcome_text){s, (uint32_t)strlen(s)};
}

static void say(struct judged *j, const char *name)
{
	j->outcome.name = words(name);
	j->outcome.message = words(j->text);
}

static void from_exit(struct judged *j, int code)
{
	j->outcome.exit_code = code;
	j->outcome.status = code ? REDOMA_STATUS_ERROR : REDOMA_STATUS_OK;
}

/* It was asked for and could not be started: the program's own fault. */
static bool never_began(const struct payload *p, struct judged *j)
{
	if (!p->fault || !p->fault->what)
		return false;
	snprintf(j->text, sizeof j->text, "cannot %s: %s", p->fault->what,
		 strerror(p->fault->sys));
	j->outcome.status = REDOMA_STATUS_INVALID;
	j->outcome.exit_code = 127;
	say(j, "Invalid");
	return true;
}

static void breach(struct judged *j)
{
	j->outcome.status = REDOMA_STATUS_BREACH;
	j->outcome.signal = SIGSYS;
	j->outcome.exit_code = SIGNAL_EXIT + SIGSYS;
	snprintf(j->text, sizeof j->text,
		 "the program made a system call outside its list and was "
		 "killed");
	say(j, "Breach");
}

/* Without what warmed it up. */
static uint64_t cpu_us(const struct watch *w)
{
	uint64_t all = w->payload->cpu_us, before = w->cpu_before_us;

	return all > before ? all - before : 0;
}

static void from_signal(const struct watch *w, struct judged *j, int sig)
{
	const char *name = sigabbrev_np(sig);

	j->outcome.signal = (uint32_t)sig;
	j->outcome.exit_code = SIGNAL_EXIT + sig;
	j->outcome.status = REDOMA_STATUS_ERROR;
	/* The kernel's own limit: the soft one, then the hard one; a program
	 * may send itself either. */
	if ((sig == SIGXCPU || sig == SIGKILL) &&
	    cpu_us(w) >= w->cpu_limit_us)
		j->outcome.status = REDOMA_STATUS_CPU_LIMIT;
	snprintf(j->text, sizeof j->text, "the program was ended by SIG%s",
		 name ? name : "?");
	say(j, "Signal");
}

static void from_death(const struct watch *w, struct judged *j)
{
	const struct payload *p = w->payload;

	if (never_began(p, j))
		return;
	if (WIFSIGNALED(p->status))
		from_signal(w, j, WTERMSIG(p->status));
	else
		from_exit(j, WEXITSTATUS(p->status));
}

static struct outcome_text member(const struct json_value *v, const char *name)
{
	size_t n = 0;
	const char *s = json_string(json_member(v, name), &n);

	return s ? (struct outcome_text){s, n < OUTCOME_TEXT_MAX
						    ? (uint32_t)n
						    : OUTCOME_TEXT_MAX}
		 : (struct outcome_text){"", 0};
}

static uint32_t number(const struct json_value *v, const char *name)
{
	uint64_t n = 0;

	return json_u64(json_member(v, name), &n) && n <= UINT32_MAX
		       ? (uint32_t)n : 0;
}

static void from_error(const struct boot *b, struct judged *j)
{
	const struct json_value *v;

	if (json_parse(b->error.data ? b->error.data : "", b->error.len,
		       &j->error, NULL)) {
		snprintf(j->text, sizeof j->text,
			 "the program's error is not JSON");
		say(j, "Error");
		return;
	}
	v = json_root(j->error);
	j->outcome.name = member(v, "name");
	j->outcome.message = member(v, "message");
	j->outcome.stack = member(v, "stack");
	j->outcome.line = number(v, "line");
	j->outcome.column = number(v, "column");
	/* As true as the rest of what it says; nothing of it is published. */
	if (json_is_true(json_member(v, "invalid")))
		j->outcome.status = REDOMA_STATUS_INVALID;
}

/* It is the program that speaks, not init: what is no JSON is its error. */
static bool no_value(const struct boot *b, struct judged *j)
{
	const char *why = NULL;

	if (b->left && b->kind == BOOT_VALUE)
		why = "the program ended before its value did";
	else if (b->value.len &&
		 json_validate(b->value.data, b->value.len, NULL))
		why = "the program's value is not JSON";
	if (!why)
		return false;
	from_exit(j, 1);
	snprintf(j->text, sizeof j->text, "%s", why);
	say(j, "Error");
	return true;
}

/* What it said, where it had the last word. */
static void from_boot(const struct watch *w, struct judged *j)
{
	const struct boot *b = w->boot;

	if (b->has_exit)
		from_exit(j, (int)(b->exit_code & 0xff));
	if (b->has_exit && b->exit_code && !j->outcome.exit_code)
		from_exit(j, 1);
	if (b->has_error) {
		from_error(b, j);
		if (j->outcome.status == REDOMA_STATUS_OK)
			from_exit(j, 1);
	}
	if (j->outcome.status != REDOMA_STATUS_OK || no_value(b, j))
		return;
	j->value = b->value.data;
	j->value_len = b->value.len;
}

static void broken(struct judged *j)
{
	from_exit(j, 1);
	snprintf(j->text, sizeof j->text,
		 "the program broke the conversation on its descriptor 3");
	say(j, "Error");
}

static void by_end(const struct watch *w, struct judged *j)
{
	switch (w->end) {
	case WATCH_WALL:
		j->outcome.status = REDOMA_STATUS_WALL_LIMIT;
		return;
	case WATCH_CPU:
		j->outcome.status = REDOMA_STATUS_CPU_LIMIT;
		return;
	case WATCH_OUTPUT:
		j->outcome.status = REDOMA_STATUS_OUTPUT_LIMIT;
		return;
	case WATCH_BROKEN:
		broken(j);
		return;
	case WATCH_SAID:
		break;
	default:
		from_death(w, j);
	}
	if (w->boot && j->outcome.status != REDOMA_STATUS_CPU_LIMIT)
		from_boot(w, j);
}

void judge_end(const struct watch *w, struct judged *ret)
{
	const struct payload *p = w->payload;
	struct outcome *o = &ret->outcome;

	*ret = (struct judged){0};
	by_end(w, ret);
	if (p->sigsys)
		breach(ret);
	if (o->status != REDOMA_STATUS_OK && !o->exit_code)
		o->exit_code = 1;
	/* Nobody watches what it reads; time and randomness are at hand. */
	o->used_clock = o->used_random = o->used_unpinned = true;
	o->cpu_us = cpu_us(w);
	o->memory_bytes = p->peak_bytes;
	o->page_faults = p->page_faults > p->warm_faults
				 ? p->page_faults - p->warm_faults : 0;
}

/* As if the write had been refused: what would have been enough is told. */
static void add_over(struct outcome *o, const struct plan_grant *g,
		     const char *bound, uint64_t needed)
{
	if (o->n_denials == OUTCOME_DENIALS_MAX)
		o->n_denials--;
	o->denials[o->n_denials++] = (struct outcome_denial){
		.op = words(strcmp(bound, "max_files") ? "write" : "create"),
		.path = words(g->guest),
		.count = 1,
		.needed = needed,
		.write = true};
}

void judge_files(const struct collect *c, const struct plan *p,
		 struct judged *j)
{
	struct outcome *o = &j->outcome;

	memcpy(o->denials, c->denials, sizeof o->denials);
	o->n_denials = c->n_denials;
	o->written_bytes = c->bytes;
	o->written = c->written;
	o->n_written = c->n_written;
	if (!c->over)
		return;
	o->n_written = 0;
	o->status = REDOMA_STATUS_DENIED;
	o->exit_code = 1;
	j->value_len = 0;
	snprintf(j->text, sizeof j->text,
		 "write %s: more than %s was written; nothing is published",
		 SHOW(str_of(p->grants[c->over_grant].guest)), c->over);
	say(j, "Denied");
	add_over(o, &p->grants[c->over_grant], c->over, c->needed);
}

void judged_done(struct judged *j)
{
	json_free(j->error);
	j->error = NULL;
}

#include "attack/judge.h"

#include <stdio.h>
#include <string.h>
#include "base/str.h"

#define SUCCESS STR("SUCCESS")
#define STOPPED STR("stopped ")
#define TRIED STR("tried")
#define SKIP STR("skip ")

/* The last line of output that begins with a word of the protocol. */
static struct str said(const struct attack_evidence *e)
{
	struct str rest = {e->out, e->out ? e->out_len : 0}, line, found = {0};

	while (rest.len) {
		if (!str_split(rest, '\n', &line, &rest)) {
			line = rest;
			rest = (struct str){0};
		}
		if (str_starts(line, SUCCESS) || str_starts(line, STOPPED) ||
		    str_starts(line, SKIP) || str_equal(line, TRIED))
			found = line;
	}
	return found;
}

static void conclude(struct attack_verdict *v, enum attack_result result,
		     const char *wall, struct str detail)
{
	*v = (struct attack_verdict){.result = result, .wall = wall};
	snprintf(v->detail, sizeof v->detail, "%.*s", (int)detail.len,
		 detail.len ? detail.p : "");
}

static void unclear(struct attack_verdict *v, const char *why)
{
	conclude(v, ATTACK_SKIPPED, NULL, STR("unclear: "));
	strncat(v->detail, why, sizeof v->detail - 1 - strlen(v->detail));
	v->unclear = true;
}

static const char *find_nonce(const struct attack_evidence *e,
			      const struct attack_nonce *nonces)
{
	for (int i = 0; e->all && i < ATTACK_NONCES; i++)
		if (nonces[i].text[0] &&
		    memmem(e->all, e->all_len, nonces[i].text,
			   strlen(nonces[i].text)))
			return nonces[i].what;
	return NULL;
}

static const char *wall_of_status(const struct attack_row *row,
				  enum redoma_status s)
{
	switch (s) {
	case REDOMA_STATUS_BREACH:
		return "seccomp";
	case REDOMA_STATUS_MEMORY_LIMIT:
		return row->profile == ATTACK_NATIVE ? "cgroup" : "wasm";
	case REDOMA_STATUS_STACK_LIMIT:
	case REDOMA_STATUS_TRAP:
	case REDOMA_STATUS_INVALID:
		return "wasm";
	case REDOMA_STATUS_ERROR:
		return row->wall;
	default:
		return "core";
	}
}

static const char *wall_of_words(const struct attack_row *row, struct str why)
{
	if (row->profile == ATTACK_NATIVE && str_equal(why, STR("ENOSYS")))
		return "seccomp";
	return row->wall;
}

/* What the guest says of itself. */
static bool judge_words(const struct attack_row *row,
			const struct attack_evidence *e,
			struct attack_verdict *v)
{
	struct str line = said(e);

	if (str_starts(line, SUCCESS)) {
		conclude(v, ATTACK_SUCCEEDED, NULL, line);
		return true;
	}
	if (e->status != REDOMA_STATUS_OK)
		return false;
	if (str_starts(line, STOPPED)) {
		struct str why = str_after(line, STOPPED.len);

		conclude(v, ATTACK_STOPPED, wall_of_words(row, why), why);
		return true;
	}
	if (str_equal(line, TRIED)) {
		conclude(v, ATTACK_STOPPED, row->wall, STR("no canary saw it"));
		return true;
	}
	if (str_starts(line, SKIP)) {
		conclude(v, ATTACK_SKIPPED, NULL, str_after(line, SKIP.len));
		return true;
	}
	return false;
}

void attack_judge(const struct attack_row *row,
		  const struct attack_evidence *e,
		  const struct attack_nonce *nonces,
		  struct attack_verdict *ret)
{
	const char *status = redoma_status_name(e->status);
	const char *what = find_nonce(e, nonces);

	if (what) {
		conclude(ret, ATTACK_SUCCEEDED, NULL, STR("it has read "));
		strncat(ret->detail, what,
			sizeof ret->detail - 1 - strlen(ret->detail));
		return;
	}
	if (e->touched) {
		conclude(ret, ATTACK_SUCCEEDED, NULL, str_of(e->touched));
		return;
	}
	if (!e->all) {
		unclear(ret, "its result cannot be read");
		return;
	}
	if (judge_words(row, e, ret))
		return;
	if (row->ends & (1u << e->status)) {
		conclude(ret, ATTACK_STOPPED, wall_of_status(row, e->status),
			 str_of(status));
		return;
	}
	if (row->ends && e->status == REDOMA_STATUS_OK) {
		conclude(ret, ATTACK_SUCCEEDED, NULL,
			 STR("the run ended well, which it should not"));
		return;
	}
	unclear(ret, status);
}

void attack_judge_refused(const struct redoma_error *err,
			  struct attack_verdict *ret)
{
	conclude(ret, ATTACK_SKIPPED, NULL, str_of(err->text));
	ret->unclear = err->code != REDOMA_E_UNSUPPORTED;
}

const char *attack_result_name(enum attack_result r)
{
	switch (r) {
	case ATTACK_STOPPED:
		return "stopped";
	case ATTACK_SUCCEEDED:
		return "succeeded";
	default:
		return "skipped";
	}
}

/* What the caller does with a call: looks at it, and answers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/json.h"
#include "core/desk_state.h"
#include "wire/tool.h"

#define WHERE "core"

void call_free(struct redoma_call *c)
{
	desk_drop(c->desk);
	buf_done(&c->answer);
	free(c);
}

const char *redoma_call_tool(const struct redoma_call *c)
{
	return c->text;
}

const char *redoma_call_args(const struct redoma_call *c, uint64_t *ret_len)
{
	if (ret_len)
		*ret_len = c->args_len;
	return c->args;
}

int redoma_call_is_over(const struct redoma_call *c)
{
	struct desk *d = c->desk;
	bool closed;

	pthread_mutex_lock(&d->lock);
	closed = d->closed;
	pthread_mutex_unlock(&d->lock);
	return closed;
}

/* From here on the call is the run's. */
static void hand_over(struct redoma_call *c)
{
	struct desk *d = c->desk;
	const uint64_t one = 1;
	bool closed;

	c->answered_us = clock_monotonic_us();
	pthread_mutex_lock(&d->lock);
	closed = d->closed;
	if (!closed && d->last)
		d->last->next = c;
	else if (!closed)
		d->first = c;
	if (!closed)
		d->last = c;
	/* Under the lock: whoever closes the desk closes this after it. */
	if (d->sleeping && write(d->wake, &one, sizeof one) == sizeof one)
		d->sleeping = false;
	pthread_mutex_unlock(&d->lock);
	if (closed)
		call_free(c);
}

int redoma_answer(struct redoma_call *c, const char *json, uint64_t len,
		  struct redoma_error *err)
{
	int r;

	if (len >= TOOL_TEXT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "an answer of %llu bytes is over 1 MiB: answer "
			       "with less, or grant a file that holds it",
			       (unsigned long long)len);
	r = json_validate(json, len, err);
	if (!r)
		r = tool_put_value(&c->answer, json, len, err);
	if (r) {
		/* Half of it, if memory was short, is no part of the next. */
		buf_clear(&c->answer);
		return r;
	}
	c->ok = true;
	hand_over(c);
	return 0;
}

int redoma_answer_error(struct redoma_call *c, const char *name,
			const char *message, struct redoma_error *err)
{
	if (tool_put_failure(&c->answer, name && *name ? name : "Error",
			     message ? message : "", err)) {
		/* For this there is room since it was asked. */
		buf_clear(&c->answer);
		if (tool_put_failure(&c->answer, "Error", "out of memory",
				     err))
			return REDOMA_E_NOMEM;
	}
	hand_over(c);
	return 0;
}

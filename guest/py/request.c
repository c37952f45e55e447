/* The request as the host wrote it into linear memory. */
#include "guest.h"

static bool in_request(const struct guest_span *s, uint32_t len)
{
	return s->off <= len && s->len <= len - s->off;
}

/* A count of spans and the spans; *at moves past them. */
static bool take_list(const uint32_t *words, uint32_t n, uint32_t *at,
		      const struct guest_span **ret)
{
	uint32_t count;

	if (*at >= n)
		return false;
	count = words[(*at)++];
	if (count > (n - *at) / 2)
		return false;
	*ret = (const struct guest_span *)(words + *at);
	*at += 2 * count;
	return true;
}

static bool all_in(const struct guest_span *s, uint32_t n, uint32_t len)
{
	for (uint32_t i = 0; i < n; i++)
		if (!in_request(&s[i], len))
			return false;
	return true;
}

bool request_take(const char *p, uint32_t len)
{
	const struct guest_request *q = (const struct guest_request *)p;
	const uint32_t *w = (const uint32_t *)p;
	uint32_t at = sizeof(*q) / 4, argc_at = at, envc_at;

	if (len < sizeof(*q) + 4 || q->magic != GUEST_REQUEST_MAGIC ||
	    !in_request(&q->source, len) || !in_request(&q->input, len) ||
	    !in_request(&q->name, len) ||
	    !take_list(w, len / 4, &at, &guest.args))
		return false;
	envc_at = at;
	if (!take_list(w, len / 4, &at, &guest.env))
		return false;
	guest.base = p;
	guest.request = q;
	guest.argc = w[argc_at];
	guest.envc = w[envc_at];
	return all_in(guest.args, guest.argc, len) &&
	       all_in(guest.env, guest.envc, len);
}

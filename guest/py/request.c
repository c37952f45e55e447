/* The request as the host wrote it into linear memory. */
#include "guest.h"

static bool in_request(const struct guest_span *s, uint32_t len)
{
	return s->off <= len && s->len <= len - s->off;
}

/* Where the next list of a request begins. */
struct lists {
	const uint32_t *words;
	uint32_t len, at; /* bytes of the request; a word of it */
};

static bool take_list(struct lists *l, uint32_t *ret_n,
		      const struct guest_span **ret)
{
	uint32_t words = l->len / 4, n;

	if (l->at >= words)
		return false;
	n = l->words[l->at++];
	if (n > (words - l->at) / 2)
		return false;
	*ret_n = n;
	*ret = (const struct guest_span *)(l->words + l->at);
	l->at += 2 * n;
	for (uint32_t i = 0; i < n; i++)
		if (!in_request(&(*ret)[i], l->len))
			return false;
	return true;
}

bool request_take(const char *p, uint32_t len)
{
	const struct guest_request *q = (const struct guest_request *)p;
	struct lists l = { (const uint32_t *)p, len, sizeof(*q) / 4 };

	if (len < sizeof(*q) + 4 || q->magic != GUEST_REQUEST_MAGIC ||
	    !in_request(&q->source, len) || !in_request(&q->input, len) ||
	    !in_request(&q->name, len))
		return false;
	guest.base = p;
	guest.request = q;
	return take_list(&l, &guest.argc, &guest.args) &&
	       take_list(&l, &guest.envc, &guest.env) &&
	       take_list(&l, &guest.toolc, &guest.tools);
}

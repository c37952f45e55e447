#include "broker/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define ROOM_FIRST 16u
#define READS_MAX 65536u /* whatever limits.files is */

static struct handle *free_slot(struct sealed *s)
{
	size_t i, room;
	struct handle *p;

	for (i = 0; i < s->n_handles; i++)
		if (!s->handles[i].number)
			return &s->handles[i];
	if (s->n_handles < s->room_handles)
		return &s->handles[s->n_handles++];
	room = s->room_handles ? s->room_handles * 2 : ROOM_FIRST;
	p = realloc(s->handles, room * sizeof *p);
	if (!p)
		return NULL;
	s->handles = p;
	s->room_handles = room;
	return &s->handles[s->n_handles++];
}

int handle_new(struct sealed *s, uint32_t grant, int fd, bool stage,
	       uint64_t *ret_number)
{
	struct handle *h;

	if (stage && s->open_stages >= SEAL_FILES_MAX)
		return EDQUOT;
	if (!stage && (s->open_reads >= s->plan.limits.files ||
		       s->open_reads >= READS_MAX))
		return EMFILE;
	h = free_slot(s);
	if (!h)
		return ENOMEM;
	/* The serial in the upper half never returns: a number that was
	 * closed stays unknown. */
	h->number = ++s->next_number << 32 | (uint64_t)(h - s->handles);
	h->fd = fd;
	h->grant = grant;
	h->stage = stage;
	h->used = false;
	if (stage)
		s->open_stages++;
	else
		s->open_reads++;
	*ret_number = h->number;
	return 0;
}

struct handle *handle_find(struct sealed *s, uint64_t number)
{
	size_t slot = number & UINT32_MAX;

	if (!number || slot >= s->n_handles ||
	    s->handles[slot].number != number)
		return NULL;
	return &s->handles[slot];
}

void handle_drop(struct sealed *s, struct handle *h)
{
	if (h->fd >= 0)
		close(h->fd);
	if (h->stage)
		s->open_stages--;
	else
		s->open_reads--;
	*h = (struct handle){.fd = -1};
}

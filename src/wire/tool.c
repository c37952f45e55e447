#include "wire/tool.h"

#include <string.h>
#include "base/cleanup.h"

#define WHERE "wire"

/* The usual message fits one frame: then nothing is copied together first. */
static int put_short(struct channel *c, enum frame_kind kind, uint32_t id,
		     const void *p, size_t n)
{
	struct frame f = {.magic = FRAME_MAGIC,
			  .kind = (uint16_t)kind,
			  .flags = FRAME_LAST,
			  .run = c->run,
			  .len = (uint32_t)(sizeof id + n)};

	return buf_reserve(&c->out, sizeof f + f.len) ||
	       buf_add(&c->out, &f, sizeof f) ||
	       buf_add(&c->out, &id, sizeof id) || buf_add(&c->out, p, n);
}

int tool_put(struct channel *c, enum frame_kind kind, uint32_t id,
	     const void *p, size_t n, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf all = {0};

	if (n <= FRAME_BODY_MAX - sizeof id)
		return put_short(c, kind, id, p, n) ? err_nomem(err, WHERE) : 0;
	if (buf_reserve(&all, sizeof id + n) ||
	    buf_add(&all, &id, sizeof id) || buf_add(&all, p, n))
		return err_nomem(err, WHERE);
	return channel_put(c, kind, all.data, all.len, 0, err);
}

int tool_call_decode(const void *p, size_t len, struct tool_call *ret,
		     struct redoma_error *err)
{
	const char *at = p, *end;
	size_t left;

	if (len <= sizeof ret->id || len > TOOL_CALL_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a call of a tool of %zu bytes", len);
	memcpy(&ret->id, at, sizeof ret->id);
	at += sizeof ret->id;
	left = len - sizeof ret->id;
	end = memchr(at, 0, left < TOOL_WORD_MAX + 1 ? left
						     : TOOL_WORD_MAX + 1);
	if (!end)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a call of a tool without a name");
	ret->name = (struct str){at, (size_t)(end - at)};
	ret->args = (struct str){end + 1, left - ret->name.len - 1};
	return 0;
}

int tool_put_value(struct buf *out, const void *json, size_t n,
		   struct redoma_error *err)
{
	return buf_add(out, "", 1) || buf_add(out, json, n)
		       ? err_nomem(err, WHERE)
		       : 0;
}

/* At most `cap` bytes, whole characters. */
static size_t cut(const char *s, size_t cap)
{
	size_t n = strnlen(s, cap + 1);

	if (n <= cap)
		return n;
	for (n = cap; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

int tool_put_failure(struct buf *out, const char *name, const char *message,
		     struct redoma_error *err)
{
	return buf_add(out, "\1", 1) ||
			       buf_add(out, name, cut(name, TOOL_WORD_MAX)) ||
			       buf_add(out, "", 1) ||
			       buf_add(out, message,
				       cut(message, TOOL_MESSAGE_MAX))
		       ? err_nomem(err, WHERE)
		       : 0;
}

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int buf_reserve(struct buf *b, size_t more)
{
	size_t cap = b->cap ? b->cap : BUF_CAP_DEFAULT;
	size_t room = b->room ? b->room : 64;
	char *p;

	if (more > cap || b->len > cap - more)
		return -1;
	if (b->data && b->len + more < b->room)
		return 0;
	while (room <= b->len + more)
		room *= 2;
	p = realloc(b->data, room);
	if (!p)
		return -1;
	b->data = p;
	b->room = room;
	return 0;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
	if (buf_reserve(b, n))
		return -1;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
	return 0;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || buf_reserve(b, (size_t)n))
		return -1;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return 0;
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){.cap = b->cap};
}

char *buf_take(struct buf *b)
{
	char *p;

	if (!b->data && buf_add(b, "", 0))
		return NULL;
	p = b->data;
	*b = (struct buf){.cap = b->cap};
	return p;
}

#include "native/boot.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "wire/pack.h"

#define WHERE "native"
#define READ_BYTES 65536u
#define DRAIN_MAX 8192u /* reads */

void boot_init(struct boot *b, int *fd)
{
	*b = (struct boot){.fd = fd};
	b->error.cap = BOOT_ERROR_MAX;
	b->out.cap = 4 * REQUEST_TEXT_MAX;
}

void boot_done(struct boot *b)
{
	buf_done(&b->value);
	buf_done(&b->error);
	buf_done(&b->out);
	buf_done(&b->call_bytes);
}

static void stop(struct boot *b, enum boot_state s)
{
	b->state = s;
	if (*b->fd >= 0)
		close(TAKE_FD(*b->fd));
}

static uint32_t word(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static bool may_call(const struct boot *b)
{
	return b->asked && b->call && b->left && b->left <= TOOL_CALL_MAX;
}

/* A second value or error is as wrong as an unknown kind. */
static enum boot_state announced(struct boot *b)
{
	switch (b->kind) {
	case BOOT_READY:
		return b->ready || b->left ? BOOT_BROKEN : BOOT_TALKS;
	case BOOT_VALUE:
		if (!b->asked || b->has_value)
			return BOOT_BROKEN;
		b->has_value = true;
		return b->left > b->value_max ? BOOT_OVER : BOOT_TALKS;
	case BOOT_ERROR:
		if (!b->asked || b->has_error || b->left > BOOT_ERROR_MAX)
			return BOOT_BROKEN;
		b->has_error = true;
		return BOOT_TALKS;
	case BOOT_EXIT:
		return b->asked && b->left == sizeof b->code ? BOOT_TALKS
							     : BOOT_BROKEN;
	case BOOT_CALL:
		return may_call(b) ? BOOT_TALKS : BOOT_BROKEN;
	default:
		return BOOT_BROKEN;
	}
}

static struct buf *room(struct boot *b)
{
	switch (b->kind) {
	case BOOT_VALUE:
		return &b->value;
	case BOOT_CALL:
		return &b->call_bytes;
	default:
		return &b->error;
	}
}

static int store(struct boot *b, const unsigned char *p, size_t n)
{
	if (b->kind == BOOT_EXIT) {
		memcpy(b->code + b->code_have, p, n);
		b->code_have += n;
		return 0;
	}
	return buf_add(room(b), p, n);
}

static enum boot_state called(struct boot *b)
{
	int r = b->call(b->call_data, b->call_bytes.data, b->call_bytes.len);

	buf_clear(&b->call_bytes);
	return r ? BOOT_BROKEN : BOOT_TALKS;
}

static enum boot_state finished(struct boot *b)
{
	b->have = 0;
	if (b->kind == BOOT_READY)
		b->ready = true;
	if (b->kind == BOOT_CALL)
		return called(b);
	if (b->kind != BOOT_EXIT)
		return BOOT_TALKS;
	b->has_exit = true;
	b->exit_code = word(b->code);
	return BOOT_ENDED;
}

/* Takes a part of what was read; returns how much. */
static size_t eat(struct boot *b, const unsigned char *p, size_t n)
{
	size_t part = BOOT_HEADER - b->have;

	if (part) {
		part = part < n ? part : n;
		memcpy(b->head + b->have, p, part);
		b->have += part;
		if (b->have < BOOT_HEADER)
			return part;
		b->kind = word(b->head);
		b->left = word(b->head + 4);
		b->state = announced(b);
	} else {
		part = b->left < n ? b->left : n;
		b->left -= (uint32_t)part;
		if (store(b, p, part))
			b->state = BOOT_OVER;
	}
	if (b->state == BOOT_TALKS && !b->left)
		b->state = finished(b);
	return part;
}

void boot_read(struct boot *b)
{
	unsigned char bytes[READ_BYTES];
	size_t at = 0;
	ssize_t n;

	if (*b->fd < 0)
		return;
	n = recv(*b->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		stop(b, BOOT_CLOSED);
		return;
	}
	while (at < (size_t)n && b->state == BOOT_TALKS)
		at += eat(b, bytes + at, (size_t)n - at);
	if (b->state != BOOT_TALKS)
		stop(b, b->state);
}

void boot_drain(struct boot *b)
{
	size_t n = 0;

	for (; *b->fd >= 0 && n < DRAIN_MAX; n++) {
		int waiting = 0;
		char byte;

		waiting = (int)recv(*b->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
		if (waiting < 0)
			return;
		boot_read(b);
	}
}

struct parts {
	struct packer w;
	uint32_t n;
};

static void part(struct parts *l, enum boot_tag tag, const void *p, size_t n)
{
	pack_uint(&l->w, tag, 4);
	pack_uint(&l->w, n, 4);
	pack_bytes(&l->w, p, n);
	l->n++;
}

static void put_names(struct parts *l, enum boot_tag tag, char *const *names)
{
	for (; names && *names; names++)
		part(l, tag, *names, strlen(*names));
}

/* As a part: a word. */
static void put_word(struct parts *l, enum boot_tag tag, uint64_t v)
{
	pack_uint(&l->w, tag, 4);
	pack_uint(&l->w, 4, 4);
	pack_uint(&l->w, v < UINT32_MAX ? v : UINT32_MAX, 4);
	l->n++;
}

static void set_word(char *at, uint32_t v)
{
	unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8),
			      (unsigned char)(v >> 16),
			      (unsigned char)(v >> 24)};

	memcpy(at, b, sizeof b);
}

int boot_ask(struct boot *b, struct request *q, struct redoma_error *err)
{
	struct parts l = {.w = {.out = &b->out}};

	pack_uint(&l.w, BOOT_RUN, 4);
	pack_uint(&l.w, 0, 4);
	pack_uint(&l.w, 0, 4);
	part(&l, BOOT_SOURCE, q->source.data, q->source.len);
	buf_done(&q->source);
	if (q->name.len)
		part(&l, BOOT_NAME, q->name.data, q->name.len);
	if (q->input.len)
		part(&l, BOOT_INPUT, q->input.data, q->input.len);
	buf_done(&q->input);
	put_names(&l, BOOT_ARG, q->plan.argv);
	put_names(&l, BOOT_ENV, q->plan.env);
	put_names(&l, BOOT_TOOL, q->plan.tools);
	put_word(&l, BOOT_IN_FLIGHT, q->plan.limits.in_flight);
	if (l.w.bad)
		return err_nomem(err, WHERE);
	set_word(b->out.data + 4, (uint32_t)(b->out.len - BOOT_HEADER));
	set_word(b->out.data + 8, l.n);
	b->asked = true;
	return 0;
}

int boot_answer(struct boot *b, const void *p, size_t n,
		struct redoma_error *err)
{
	struct packer w = {.out = &b->out};

	pack_uint(&w, BOOT_ANSWER, 4);
	pack_uint(&w, n, 4);
	pack_bytes(&w, p, n);
	return w.bad ? err_nomem(err, WHERE) : 0;
}

bool boot_wants_out(const struct boot *b)
{
	return *b->fd >= 0 && b->sent < b->out.len;
}

void boot_write(struct boot *b)
{
	ssize_t n;

	if (!boot_wants_out(b))
		return;
	n = send(*b->fd, b->out.data + b->sent, b->out.len - b->sent,
		 MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		b->sent += (size_t)n;
	/* Whoever closed it has ended, or will not be told; its exit says. */
	if (b->sent == b->out.len)
		buf_done(&b->out), b->sent = 0;
}

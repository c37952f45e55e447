#include "table/pieces.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHERE "table"
#define STEP ((size_t)1 << 20)

void pieces_open(struct pieces *s, int fd)
{
	struct stat st;
	off_t at = lseek(fd, 0, SEEK_CUR);

	*s = (struct pieces){.fd = fd};
	if (at < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	s->placed = true;
	s->at = (uint64_t)at;
	s->end = (uint64_t)st.st_size;
	if (s->at > s->end)
		s->at = s->end;
}

void pieces_done(struct pieces *s)
{
	buf_done(&s->held);
}

static ssize_t read_once(const struct pieces *s, uint64_t at, void *p, size_t n)
{
	ssize_t got;

	do
		got = s->placed ? pread(s->fd, p, n, (off_t)at)
				: read(s->fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Appends n bytes, or what there is of them.  Room is made as they come, not
 * for what somebody says will. */
static int append(const struct pieces *s, uint64_t at, uint64_t n,
		  struct buf *b, struct redoma_error *err)
{
	while (n) {
		size_t step = n < STEP ? (size_t)n : STEP;
		ssize_t got;

		if (buf_reserve(b, step))
			return err_nomem(err, WHERE);
		got = read_once(s, at, b->data + b->len, step);
		if (got < 0)
			return err_sys(err, WHERE, "read the table");
		if (!got)
			return 0;
		b->len += (size_t)got;
		at += (uint64_t)got;
		n -= (uint64_t)got;
	}
	return 0;
}

int pieces_take(struct pieces *s, size_t n, struct buf *into,
		struct redoma_error *err)
{
	size_t back = s->n_back < n ? s->n_back : n;
	int r;

	buf_clear(into);
	if (buf_add(into, s->back, back))
		return err_nomem(err, WHERE);
	s->n_back -= back;
	memmove(s->back, s->back + back, s->n_back);
	r = append(s, s->at, n - back, into, err);
	s->at += into->len;
	return r;
}

void pieces_return(struct pieces *s, const struct buf *bytes)
{
	s->at -= bytes->len;
	if (s->placed || bytes->len > sizeof s->back)
		return;
	s->n_back = bytes->len;
	memcpy(s->back, bytes->data, bytes->len);
}

int pieces_body(struct pieces *s, uint64_t n, bool *ret_short,
		struct redoma_error *err)
{
	int r;

	s->body = s->at;
	s->body_len = n;
	buf_clear(&s->held);
	if (s->placed) {
		*ret_short = s->at > s->end || n > s->end - s->at;
		s->at += *ret_short ? 0 : n;
		return 0;
	}
	if (n > BODY_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a record batch has %llu MiB, and of a pipe at "
			       "most %llu are held: name the file itself, or "
			       "write smaller batches",
			       (unsigned long long)n >> 20,
			       (unsigned long long)BODY_MAX >> 20);
	r = append(s, 0, n, &s->held, err);
	*ret_short = s->held.len < n;
	return r;
}

int pieces_look(struct pieces *s, uint64_t from, size_t n, struct buf *room,
		const char **ret, struct redoma_error *err)
{
	int r;

	if (!s->placed) {
		*ret = n ? s->held.data + from : "";
		return 0;
	}
	buf_clear(room);
	r = append(s, s->body + from, n, room, err);
	if (r)
		return r;
	/* It was longer when it was opened. */
	if (room->len < n)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the table became shorter while it was read");
	*ret = n ? room->data : "";
	return 0;
}

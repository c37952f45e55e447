#include "native/order.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"

#define WHERE "native"

/* Followed by text_len bytes: argv, env and places, each ended by NUL. */
struct head {
	uint64_t file_bytes, max_fds, cpu_s, memory_bytes, pids;
	uint64_t n_argv, n_env, n_places, text_len;
	bool early;
};

static uint64_t count(char *const *texts)
{
	uint64_t n = 0;

	while (texts[n])
		n++;
	return n;
}

static int add(struct buf *b, char *const *texts, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (buf_add(b, texts[i], strlen(texts[i]) + 1))
			return -1;
	return 0;
}

int order_send(int fd, const struct payload_start *s, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	size_t n_places;
	char *const *places = native_places(s->jail, &n_places);
	struct head h = {.file_bytes = s->file_bytes,
			 .max_fds = s->max_fds,
			 .cpu_s = s->cpu_s,
			 .memory_bytes = s->memory_bytes,
			 .pids = s->pids,
			 .n_argv = count(s->argv),
			 .n_env = count(s->env),
			 .n_places = n_places,
			 .early = s->early};

	if (buf_add(&b, &h, sizeof h) || add(&b, s->argv, h.n_argv) ||
	    add(&b, s->env, h.n_env) || add(&b, places, h.n_places))
		return err_nomem(err, WHERE);
	h.text_len = b.len - sizeof h;
	memcpy(b.data, &h, sizeof h);
	if (fd_write_all(fd, b.data, b.len) && errno != EPIPE)
		return err_sys(err, WHERE, "tell the program what it is");
	return 0;
}

static int read_all(int fd, void *to, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ssize_t n = read(fd, (char *)to + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += (size_t)n;
	}
	return 0;
}

static char **point(char **at, uint64_t n)
{
	char **texts = calloc((size_t)n + 1, sizeof *texts);

	for (uint64_t i = 0; texts && i < n; i++) {
		texts[i] = *at;
		*at += strlen(*at) + 1;
	}
	return texts;
}

static void drop(struct order *o)
{
	free(o->argv);
	free(o->env);
	free(o->places);
	free(o->text);
}

int order_take(int fd, struct order *ret)
{
	struct head h;
	struct order o = {0};
	char *at;

	if (read_all(fd, &h, sizeof h))
		return -1;
	at = o.text = calloc(1, (size_t)h.text_len + 1);
	if (!at || read_all(fd, at, (size_t)h.text_len)) {
		drop(&o);
		return -1;
	}
	o.argv = point(&at, h.n_argv);
	o.env = point(&at, h.n_env);
	o.places = point(&at, h.n_places);
	if (!o.argv || !o.env || !o.places) {
		drop(&o);
		return -1;
	}
	o.lock = (struct native_payload){.file_bytes = h.file_bytes,
					 .max_fds = h.max_fds,
					 .cpu_s = h.cpu_s,
					 .memory_bytes = h.memory_bytes,
					 .pids = h.pids,
					 .early = h.early,
					 .places = o.places,
					 .n_places = (size_t)h.n_places};
	*ret = o;
	return 0;
}

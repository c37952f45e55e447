/* Bytes become a sequence of calls of WASI with hostile arguments, over a
 * memory of 128 KiB and a core that answers with bytes of the input. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "wasi/calls.h"

#define MEMORY_BYTES 131072u
#define NAMES_AT 4096u
#define NAME_BYTES 32u
#define QUOTA_BYTES 5000u
#define FILES 8u
#define SUBSCRIPTIONS_AT 512u
#define RESULTS_AT 16384u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p;
	size_t n;
};

static volatile sig_atomic_t stopped;

static const char *const names[] = {
	"f",	  "d",	   "d/x",   "d/x/../y", "w",	  "w/a",
	"w/b",	  "w/s",   "w/s/t", "..",	"g",	  "/",
	"d/../w", "w/a/",  "w/.",   "o",	"r",	  "w/s/..",
	"r/new",  "\xff",  "r/old", "d//x//",	"../../", "w/s/t/u",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static uint8_t take(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->p++;
}

static uint64_t take_bytes(struct input *in, unsigned n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | take(in);
	return v;
}

static int say(void *data, int stream, const void *p, size_t n)
{
	volatile uint8_t sum = 0;

	(void)stream;
	for (size_t i = 0; i < n; i++)
		sum += ((const uint8_t *)p)[i];
	return take(data) == 255 ? EFBIG : 0;
}

static int error_of(struct input *in)
{
	static const int errors[] = {0,	     0,	    0,	    0,	   0,
				     ENOENT, EXDEV, ELOOP,  EINTR, EPIPE,
				     EACCES, EIO,   ENOTDIR};

	return errors[take(in) % (sizeof(errors) / sizeof(errors[0]))];
}

static void fill_stat(struct input *in, struct wasi_stat *st)
{
	static const uint8_t types[] = {3, 4, 4, 7, 0, 2};

	*st = (struct wasi_stat){
		.type = types[take(in) % sizeof(types)],
		.size = take_bytes(in, 8),
		.mtim_ns = (int64_t)take_bytes(in, 8),
	};
}

static int open_name(void *data, uint32_t grant, const char *path,
		     unsigned flags, struct wasi_opened *ret)
{
	int e = error_of(data);

	(void)grant;
	(void)strlen(path);
	if (e)
		return e;
	ret->fd = -1;
	ret->handle = take(data);
	if (flags & WASI_OPEN_CREATE || take(data) & 1)
		ret->fd = memfd_create("fuzz", MFD_CLOEXEC);
	fill_stat(data, &ret->st);
	return 0;
}

static int stat_name(void *data, uint32_t grant, const char *path, bool follow,
		     struct wasi_stat *ret)
{
	int e = error_of(data);

	(void)grant;
	(void)strlen(path);
	(void)follow;
	if (!e)
		fill_stat(data, ret);
	return e;
}

static int list_names(void *data, uint32_t grant, const char *path, uint64_t at,
		      struct buf *out, uint64_t *ret_next)
{
	struct input *in = data;
	unsigned n = take(in) % 8;
	int e = error_of(in);

	(void)grant;
	(void)strlen(path);
	for (unsigned i = 0; !e && i < n; i++) {
		uint8_t record[64] = {0};
		uint16_t len = take(in) % 50;

		record[8] = take(in) % 9;
		memcpy(record + 9, &len, 2);
		memset(record + 11, 'a' + (int)i, len);
		/* Sometimes cut short. */
		if (buf_add(out, record, take(in) == 1 ? 5 : len + 11u))
			return ENOMEM;
	}
	*ret_next = take(in) & 3 ? 0 : at + n;
	return e;
}

static int read_link(void *data, uint32_t grant, const char *path,
		     struct buf *out)
{
	uint8_t n = take(data);

	(void)grant;
	(void)strlen(path);
	for (unsigned i = 0; i < n; i++)
		if (buf_add(out, "l", 1))
			return ENOMEM;
	return error_of(data);
}

static int read_at(void *data, uint64_t handle, void *p, size_t n,
		   uint64_t offset, size_t *ret_n)
{
	int e = error_of(data);

	(void)handle;
	(void)offset;
	*ret_n = take(data) % (n + 1);
	memset(p, 'r', *ret_n);
	return e;
}

static int forget(void *data, uint64_t handle)
{
	(void)data;
	(void)handle;
	return 0;
}

static void on_timer(int sig)
{
	(void)sig;
	stopped = 1;
}

/* A wait of any length ends after a millisecond, as by a deadline. */
static void arm(timer_t timer, long ns)
{
	struct itimerspec t = {.it_value = {0, ns}};

	timer_settime(timer, 0, &t, NULL);
}

/* What each parameter is: d descriptor, p name, l its length, v io vectors, s
 * subscriptions, c a count, r room for a result, L its length, o an offset, R
 * rights, f flags. */
static const char *const kinds_of[WASI_CALLS] = {
	"rr", "rr", "rr", "rr", "fr", "for", "doof", "doo", "d", "d", "dr",
	"df", "dRR", "dr", "do", "doof", "dvcor", "dr", "drc", "dvcor", "dvcr",
	"drLor", "dd", "dofr", "d", "dr", "dvcr", "dpl", "dfplr", "dfploof",
	"dfpldpl", "dfplfRRfr", "dplrLr", "dpl", "dpldpl", "pldpl", "dpl",
	"srcr", "f", "", "rL", "dfr", "dvcfrr", "dvcfr", "df",
};

/* Any number at all, or one at an edge. */
static uint64_t hostile(struct input *in)
{
	switch (take(in) % 4) {
	case 0:
		return MEMORY_BYTES - take(in) % 65;
	case 1:
		return take_bytes(in, 8);
	case 2:
		return UINT64_MAX >> take(in) % 64;
	default:
		return take_bytes(in, 2);
	}
}

static uint64_t argument(struct input *in, char kind, uint64_t before)
{
	uint8_t v = take(in);

	if (v >= 248)
		return hostile(in);
	switch (kind) {
	case 'd':
		return v < 128 ? 3 : v % 12;
	case 'p':
		return NAMES_AT + v % NAMES * NAME_BYTES;
	case 'l':
		return before >= NAMES_AT &&
				       before < NAMES_AT + NAMES * NAME_BYTES
			       ? strlen(names[(before - NAMES_AT) / NAME_BYTES])
			       : v;
	case 'v':
		return v % 16 * 8;
	case 's':
		return SUBSCRIPTIONS_AT + v % 4 * SIZE_SUBSCRIPTION;
	case 'R':
		return v < 128 ? UINT64_MAX
			       : RIGHTS_READ | RIGHT_PATH_OPEN |
					 RIGHT_FD_READDIR;
	case 'r':
		return RESULTS_AT + v * 64u;
	case 'L':
		return v * 8u;
	default:
		return v % 16;
	}
}

static void check(const struct wasi *w)
{
	for (uint32_t i = 0; i < w->plan->n_grants; i++)
		if (w->plan->grants[i].kind >= GRANT_WRITE_FILE &&
		    (w->grants[i].bytes > QUOTA_BYTES ||
		     w->grants[i].files > FILES))
			abort();
	if (w->n_files > w->plan->limits.files)
		abort();
}

static void run(struct wasi *w, struct input *in, timer_t timer)
{
	uint8_t *memory = calloc(1, MEMORY_BYTES);
	const struct guest g = {memory, MEMORY_BYTES};

	for (size_t i = 0; i < NAMES; i++)
		memcpy(memory + NAMES_AT + i * NAME_BYTES, names[i],
		       strlen(names[i]));
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t v[2] = {RESULTS_AT + i * 16, take(in)};

		memcpy(memory + i * 8, v, sizeof(v));
	}
	for (uint32_t i = 0; i < 20; i++) {
		uint8_t *at = memory + SUBSCRIPTIONS_AT + i * SIZE_SUBSCRIPTION;

		at[8] = take(in) % 3;
		at[16] = take(in) % 8;
		at[24] = take(in);
		at[40] = take(in) & 1;
	}
	for (int i = 0; i < 200 && in->n && !w->report.end; i++) {
		uint8_t n = take(in) % WASI_CALLS;
		const struct call_row *row = &call_rows[n];
		wasmtime_val_raw_t a[9] = {0};
		uint64_t v = 0;

		for (size_t k = 0; row->params[k]; k++) {
			v = argument(in, kinds_of[n][k], v);
			if (row->params[k] == 'I')
				a[k].i64 = (int64_t)v;
			else
				a[k].i32 = (int32_t)v;
		}
		if (row->fn == call_poll_oneoff)
			arm(timer, 1000000);
		row->fn(w, &g, a);
		if (row->fn == call_poll_oneoff)
			arm(timer, 0);
		check(w);
	}
	free(memory);
}

static void grant(struct plan_grant *g, enum grant_kind kind, char *guest)
{
	*g = (struct plan_grant){
		.kind = kind,
		.guest = guest,
		.fd = -1,
		.max_bytes = QUOTA_BYTES,
		.max_files = FILES,
		.last = UINT64_MAX,
		.opens = 50,
	};
	if (kind == GRANT_READ_FILE || kind == GRANT_WRITE_FILE)
		g->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (kind == GRANT_READ_FILE && write(g->fd, "0123456789", 10) != 10)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char guests[7][4] = {"/f", "/d", "/w", "/g", "/r", "/r", "/o"};
	static const enum grant_kind kinds[] = {
		GRANT_READ_FILE,  GRANT_READ_DIR, GRANT_WRITE_DIR,
		GRANT_WRITE_FILE, GRANT_READ_DIR, GRANT_WRITE_DIR,
		GRANT_READ_FILE};
	char word[] = "word", *strings[] = {word, word, NULL};
	struct plan_grant grants[7];
	struct input in = {data, size};
	struct plan plan = {.limits = {.files = 20}, .grants = grants,
			    .n_grants = 7, .argv = strings, .env = strings};
	struct wasi_host host = {.data = &in,
				 .write = say,
				 .open = open_name,
				 .stat = stat_name,
				 .list = list_names,
				 .readlink = read_link,
				 .pread = read_at,
				 .close = forget};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
				 .sigev_signo = SIGUSR2};
	struct wasi_report report;
	struct wasi *w;
	timer_t timer;
	uint8_t how = take(&in);

	for (size_t i = 0; i < 7; i++)
		grant(&grants[i], kinds[i], guests[i]);
	grants[5].mode = WRITE_REPLACE;
	grants[6].via_core = true;
	plan.clock = how % 3;
	plan.random = how / 3 % 3;
	signal(SIGUSR2, on_timer);
	stopped = 0;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    wasi_new(&stopped, &w, NULL) ||
	    wasi_begin(w, &plan, &host, "input", 5, NULL))
		abort();
	run(w, &in, timer);
	wasi_end(w, &report);
	wasi_free(w);
	timer_delete(timer);
	return 0;
}

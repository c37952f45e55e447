#include "wasi/calls.h"

#include <poll.h>
#include <signal.h>
#include <time.h>

#include "wasi/clock.h"
#include "wasi/file.h"
#include "wasi/handles.h"

#define SUBSCRIPTIONS_MAX 1024
#define NS_PER_S 1000000000
#define OUT_READY_BYTES 65536 /* what a pipe says it takes */
#define FOREVER_NS ((uint64_t)1 << 60) /* 36 years */

struct subscription {
	uint64_t userdata;
	uint64_t bytes;	  /* of a ready descriptor */
	uint64_t wait_ns; /* of a clock: from now on; 0 it is ready */
	uint32_t error;
	uint8_t type;
	uint8_t hangup;
	bool ready;
};

static uint64_t host_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* How long a clock subscription waits from now on.  A wait from now tells
 * nothing, so that it needs no clock of the plan; a point in time does. */
static void read_clock(struct wasi *w, const struct guest *g, uint32_t at,
		       struct subscription *s)
{
	uint32_t id = guest_u32(g, at + 16);
	uint64_t timeout = guest_u64(g, at + 24);
	uint16_t flags = guest_u16(g, at + 40);
	int64_t now = 0;

	if (flags & ~SUBCLOCK_ABSTIME || id > CLOCK_ID_MONOTONIC)
		s->error = W_INVAL;
	else if (flags & SUBCLOCK_ABSTIME)
		s->error = clock_now(w, id, &now);
	s->ready = s->error != W_SUCCESS;
	if (s->ready)
		return;
	if (flags & SUBCLOCK_ABSTIME && now > 0)
		timeout = timeout > (uint64_t)now ? timeout - (uint64_t)now : 0;
	s->wait_ns = timeout < FOREVER_NS ? timeout : FOREVER_NS;
	s->ready = !s->wait_ns;
}

/* No descriptor ever makes the guest wait. */
static void read_descriptor(struct wasi *w, const struct guest *g, uint32_t at,
			    struct subscription *s)
{
	const struct handle *h = handles_get(w, guest_u32(g, at + 16));
	bool write = s->type == EVENT_FD_WRITE;
	uint64_t size = 0;

	s->ready = true;
	if (!h || h->kind == HANDLE_DIR ||
	    !(h->base & (write ? RIGHT_FD_WRITE : RIGHT_FD_READ))) {
		s->error = W_BADF;
		return;
	}
	if (!(h->base & RIGHT_POLL_FD_READWRITE)) {
		s->error = W_NOTCAPABLE;
		return;
	}
	if (write) {
		s->bytes = OUT_READY_BYTES;
	} else if (h->kind == HANDLE_IN) {
		s->bytes = w->input_len - w->input_at;
		s->hangup = s->bytes ? 0 : EVENT_HANGUP;
	} else {
		s->error = file_size(w, h, &size);
		s->bytes = size > h->offset ? size - h->offset : 0;
	}
}

static uint32_t read_all(struct wasi *w, const struct guest *g, uint32_t in,
			 uint32_t n, struct subscription *subs)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = in + i * SIZE_SUBSCRIPTION;
		struct subscription *s = &subs[i];

		*s = (struct subscription){.userdata = guest_u64(g, at),
					   .type = g->base[at + 8]};
		if (s->type > EVENT_FD_WRITE)
			return W_INVAL;
		if (s->type == EVENT_CLOCK)
			read_clock(w, g, at, s);
		else
			read_descriptor(w, g, at, s);
	}
	return W_SUCCESS;
}

/* Waits until `until`, or returns false as soon as *stop is set.  Signals are
 * blocked while it looks at *stop and let in by ppoll only, so that one which
 * comes in between is not lost. */
static bool wait_until(struct wasi *w, uint64_t until)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL,
				     SIGFPE,  SIGSYS, SIGTRAP};
	sigset_t all, before;
	uint64_t now = host_now();
	bool stopped;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (!(stopped = wasi_stopped(w)) && now < until) {
		uint64_t left = until - now;
		struct timespec ts = {(time_t)(left / NS_PER_S),
				      (long)(left % NS_PER_S)};

		(void)ppoll(NULL, 0, &ts, &before);
		now = host_now();
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !stopped;
}

/* Nothing is ready yet: the earliest clocks are, once their time has come. */
static uint32_t wait_first(struct wasi *w, struct subscription *subs,
			   uint32_t n)
{
	uint64_t first = FOREVER_NS;

	for (uint32_t i = 0; i < n; i++)
		if (subs[i].wait_ns < first)
			first = subs[i].wait_ns;
	if (!wait_until(w, host_now() + first))
		return W_INTR;
	for (uint32_t i = 0; i < n; i++)
		subs[i].ready = subs[i].wait_ns == first;
	return W_SUCCESS;
}

static bool any_ready(const struct subscription *subs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (subs[i].ready)
			return true;
	return false;
}

static uint32_t put_events(const struct guest *g, uint32_t out,
			   const struct subscription *subs, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct subscription *s = &subs[i];
		uint32_t at = out + count * SIZE_EVENT;

		if (!s->ready)
			continue;
		guest_put_u64(g, at, s->userdata);
		guest_put_u64(g, at + 8, s->error | (uint32_t)s->type << 16);
		guest_put_u64(g, at + 16, s->bytes);
		guest_put_u64(g, at + 24, s->hangup);
		count++;
	}
	return count;
}

uint32_t call_poll_oneoff(struct wasi *w, const struct guest *g,
			  const wasmtime_val_raw_t *a)
{
	struct subscription subs[SUBSCRIPTIONS_MAX];
	uint32_t in = arg_u32(a, 0), out = arg_u32(a, 1);
	uint32_t n = arg_u32(a, 2), ret = arg_u32(a, 3);
	uint32_t e;

	if (!n || n > SUBSCRIPTIONS_MAX)
		return W_INVAL;
	if (!guest_has_array(g, in, n, SIZE_SUBSCRIPTION) ||
	    !guest_has_array(g, out, n, SIZE_EVENT) || !guest_has(g, ret, 4))
		return W_FAULT;
	e = read_all(w, g, in, n, subs);
	if (!e && !any_ready(subs, n))
		e = wait_first(w, subs, n);
	if (e)
		return e;
	guest_put_u32(g, ret, put_events(g, out, subs, n));
	return W_SUCCESS;
}

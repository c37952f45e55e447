#include "native/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"

#define WHERE "native"
/* A process that uses several CPUs is looked at more often. */
#define CPU_LOOK_US 5000u
#define CPU_SHARE 4u
#define END_US 2000000u /* for everything to die */

enum { P_CHILD, P_CORE, P_OUT, P_ERR, P_IN, P_BOOT, P_COUNT };

void watch_begin(struct watch *w, const struct limits *l)
{
	uint64_t now = clock_monotonic_us();

	w->end = WATCH_RUNS;
	w->wall_at_us = l->wall_us < UINT64_MAX - now ? now + l->wall_us
						      : UINT64_MAX;
	w->cpu_limit_us = l->cpu_us;
	w->cpu_before_us = payload_cpu_us(w->payload);
	w->cpu_at_us = now + l->cpu_us / CPU_SHARE;
}

static void look_at_clocks(struct watch *w)
{
	uint64_t now = clock_monotonic_us(), used;

	if (now >= w->wall_at_us) {
		w->end = WATCH_WALL;
		return;
	}
	if (now < w->cpu_at_us)
		return;
	used = payload_cpu_us(w->payload);
	used -= used < w->cpu_before_us ? used : w->cpu_before_us;
	if (used >= w->cpu_limit_us) {
		w->end = WATCH_CPU;
		return;
	}
	used = (w->cpu_limit_us - used) / CPU_SHARE;
	w->cpu_at_us = now + (used > CPU_LOOK_US ? used : CPU_LOOK_US);
}

static void fill(const struct watch *w, struct pollfd p[P_COUNT])
{
	const struct payload *l = w->payload;

	p[P_CHILD] = (struct pollfd){.fd = w->sigfd, .events = POLLIN};
	p[P_CORE] = (struct pollfd){.fd = w->core, .events = POLLRDHUP};
	if (w->relay && relay_listens(w->relay))
		p[P_CORE].events |= POLLIN;
	p[P_OUT] = (struct pollfd){.fd = l->out, .events = POLLIN};
	p[P_ERR] = (struct pollfd){.fd = l->err, .events = POLLIN};
	p[P_IN] = (struct pollfd){.fd = l->in, .events = POLLOUT};
	p[P_BOOT] = (struct pollfd){.fd = w->boot ? l->boot : -1,
				    .events = POLLIN};
	if (w->boot && boot_wants_out(w->boot))
		p[P_BOOT].events |= POLLOUT;
}

static int wait_for(const struct watch *w, struct pollfd p[P_COUNT],
		    struct redoma_error *err)
{
	uint64_t now = clock_monotonic_us();
	uint64_t at = w->wall_at_us < w->cpu_at_us ? w->wall_at_us
						   : w->cpu_at_us;
	bool more = w->more_dead || (w->relay && relay_heard(w->relay));
	uint64_t left = at > now && !more ? at - now : 0;
	struct timespec t = {(time_t)(left / 1000000),
			     (long)(left % 1000000) * 1000};
	nfds_t i;

	if (ppoll(p, P_COUNT, &t, NULL) >= 0)
		return 0;
	for (i = 0; i < P_COUNT; i++)
		p[i].revents = 0;
	return errno == EINTR ? 0 : err_sys(err, WHERE, "wait for a program");
}

static enum watch_end said(const struct boot *b)
{
	switch (b->state) {
	case BOOT_ENDED:
		return WATCH_SAID;
	case BOOT_OVER:
		return WATCH_OUTPUT;
	case BOOT_BROKEN:
		return WATCH_BROKEN;
	default:
		return WATCH_RUNS; /* closed: its exit will tell */
	}
}

static void talk(struct watch *w, short events)
{
	if (events & POLLOUT)
		boot_write(w->boot);
	if (events & ~POLLOUT)
		boot_read(w->boot);
	w->end = said(w->boot);
}

void watch_clear(int sigfd)
{
	struct signalfd_siginfo drained;

	while (read(sigfd, &drained, sizeof drained) > 0)
		;
}

static void bury(struct watch *w)
{
	watch_clear(w->sigfd);
	w->more_dead = payload_reap(w->payload);
	if (w->payload->dead && w->end == WATCH_RUNS)
		w->end = WATCH_DIED;
}

/* What a call of the payload came to in our conversation with the core. */
static int relayed(const struct watch *w, struct redoma_error *err)
{
	if (!w->relay || !w->relay->failed.code)
		return 0;
	if (err)
		*err = w->relay->failed;
	return w->relay->failed.code;
}

static int hear_core(struct watch *w, short events, struct redoma_error *err)
{
	if (events & ~POLLIN)
		return err_set(err, REDOMA_E_WORKER, WHERE, "the core is gone");
	if (w->relay && (events || relay_heard(w->relay)))
		return relay_answers(w->relay, err);
	return 0;
}

static int serve(struct watch *w, const struct pollfd p[P_COUNT],
		 struct redoma_error *err)
{
	int r = hear_core(w, p[P_CORE].revents, err);

	if (r)
		return r;
	if (p[P_OUT].revents)
		r = pump_take(&w->pump, FRAME_OUT, err);
	if (!r && p[P_ERR].revents)
		r = pump_take(&w->pump, FRAME_ERR, err);
	if (r)
		return r;
	if (p[P_IN].revents)
		pump_feed(&w->pump);
	if (p[P_BOOT].revents)
		talk(w, p[P_BOOT].revents);
	r = relayed(w, err);
	if (r)
		return r;
	if (w->pump.over)
		w->end = WATCH_OUTPUT;
	if (p[P_CHILD].revents || w->more_dead)
		bury(w);
	return 0;
}

int watch_run(struct watch *w, struct redoma_error *err)
{
	struct pollfd p[P_COUNT];
	int r = 0;

	while (!r && w->end == WATCH_RUNS) {
		fill(w, p);
		r = wait_for(w, p, err);
		if (!r)
			r = serve(w, p, err);
		if (!r && w->end == WATCH_RUNS)
			look_at_clocks(w);
	}
	return r;
}

/* What it said before it ended may still lie in the socket. */
static int last_words(struct watch *w, struct redoma_error *err)
{
	enum watch_end end;

	if (!w->boot || (w->end != WATCH_DIED && w->end != WATCH_SAID))
		return 0;
	boot_drain(w->boot);
	end = said(w->boot);
	if (end != WATCH_RUNS)
		w->end = end;
	return relayed(w, err);
}

int watch_finish(struct watch *w, struct redoma_error *err)
{
	int r = w->early && w->end == WATCH_SAID
			? payload_strike(w->payload, err)
			: payload_end(w->payload, END_US, err);

	if (!r)
		r = last_words(w, err);
	if (!r && w->end != WATCH_OUTPUT)
		r = pump_drain(&w->pump, err);
	if (!r && w->pump.over)
		w->end = WATCH_OUTPUT;
	return r;
}

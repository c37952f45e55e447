#include "worker/deadline.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "base/clock.h"
#include "worker/host.h"
#include "worker/where.h"

#define WHERE "worker"

/* The handler's state cannot be anything but static. */
static struct {
	volatile sig_atomic_t stop;
	volatile sig_atomic_t kind;
	volatile int32_t *volatile word;
	struct engine *engine;
	struct host *volatile host;
	timer_t wall, cpu;
	int cpu_armed;
	/* By the monotonic clock: the run's end (0: there is no run), and when
	 * the wall timer fires (0: it does not). */
	volatile uint64_t until_us, fires_us;
	/* Rows of a batch: the row that was seen last, since when, and how much
	 * CPU time there was when it was told to end. */
	volatile uint32_t *volatile rows;
	volatile uint32_t row, first_row;
	volatile uint64_t row_us, since_us, told_cpu_us;
	volatile sig_atomic_t told;
	/* What is shut if a row does not end. */
	struct deadline_batch batch;
} deadline;

#define TICK_US 1000u
#define TICKS 32 /* looks at a row within its time */
#define UNBEGUN_US 1000000u

static int fire_at(uint64_t us)
{
	struct itimerspec it = {.it_value = {(time_t)(us / 1000000),
					     (long)(us % 1000000) * 1000}};

	deadline.fires_us = us;
	return timer_settime(deadline.wall, TIMER_ABSTIME, &it, NULL);
}

static uint64_t next_look(uint64_t now)
{
	uint64_t tick = deadline.row_us / TICKS;
	uint64_t at = now + (tick > TICK_US ? tick : TICK_US);

	return at < deadline.until_us ? at : deadline.until_us;
}

/* A row that was told to end goes on, by the CPU's time: some of what runs in
 * it is C that asks nobody, but one that has no CPU can do nothing. */
static bool is_deaf(void)
{
	uint64_t us = deadline.batch.deaf_us;

	if (deadline.row == deadline.first_row && us < UNBEGUN_US)
		us = UNBEGUN_US;
	return clock_thread_us() - deadline.told_cpu_us >= us;
}

/* The image has no checks of an epoch: its memory is what it cannot do
 * without, and each access to it may trap. */
static void shut(uintptr_t at)
{
	const struct deadline_batch *b = &deadline.batch;

	if (at < b->code || at >= b->code_end ||
	    mprotect(b->memory, b->reserved, PROT_NONE))
		return;
	deadline.kind = DEADLINE_ROW;
	deadline.stop = 1;
	deadline.rows = NULL;
	deadline.word = NULL;
}

static void tell_row(volatile uint32_t *words)
{
	words[1] = deadline.row;
	if (deadline.word)
		*deadline.word |= (int32_t)words[2];
	if (!deadline.told)
		deadline.told_cpu_us = clock_thread_us();
	deadline.told = 1;
}

/* A row that is still the same after its time is ended; none is missed that
 * began since, because its number is another one. */
static void look_at_row(uint64_t now, uintptr_t at)
{
	volatile uint32_t *words = deadline.rows;

	if (deadline.row != words[0]) {
		deadline.row = words[0];
		deadline.since_us = now;
		deadline.told = 0;
	} else if (now - deadline.since_us < deadline.row_us) {
		return;
	} else if (deadline.told && is_deaf()) {
		shut(at);
	} else {
		tell_row(words);
	}
}

/* The timer of an earlier run, left to fire: this run, if there is one, ends
 * later.  Of a batch, a look at its row. */
static bool too_early(uintptr_t at)
{
	uint64_t until = deadline.until_us;
	uint64_t now = clock_monotonic_us();
	int saved = errno;
	bool early;

	deadline.fires_us = 0;
	if (until && now < until && deadline.rows) {
		look_at_row(now, at);
		if (deadline.rows)
			until = next_look(now);
	}
	early = !until || (now < until && !fire_at(until));
	errno = saved;
	return early;
}

static void on_deadline(int sig, siginfo_t *info, void *context)
{
	volatile int32_t *word = deadline.word;

	(void)info;
	if (sig == SIGRTMIN && too_early(where_was(context)))
		return;
	if (!deadline.kind)
		deadline.kind = sig == SIGRTMIN ? DEADLINE_WALL : DEADLINE_CPU;
	deadline.stop = 1;
	if (word)
		*word = 1;
	engine_interrupt(deadline.engine);
	if (deadline.host)
		host_rescue(deadline.host);
}

int deadline_install(struct engine *e, struct redoma_error *err)
{
	struct sigaction sa = {.sa_sigaction = on_deadline,
			       .sa_flags = SA_ONSTACK | SA_SIGINFO};

	deadline.engine = e;
	sigfillset(&sa.sa_mask);
	sigdelset(&sa.sa_mask, SIGSEGV);
	sigdelset(&sa.sa_mask, SIGILL);
	sigdelset(&sa.sa_mask, SIGFPE);
	sigdelset(&sa.sa_mask, SIGBUS);
	if (sigaction(SIGRTMIN, &sa, NULL) ||
	    sigaction(SIGRTMIN + 1, &sa, NULL))
		return err_sys(err, WHERE, "install the deadline's handler");
	/* A write over RLIMIT_FSIZE is EFBIG to the guest, not our end. */
	sa = (struct sigaction){.sa_handler = SIG_IGN};
	if (sigaction(SIGXFSZ, &sa, NULL))
		return err_sys(err, WHERE, "ignore the file size signal");
	return 0;
}

static int create(clockid_t clock, int sig, timer_t *ret)
{
	struct sigevent se = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = sig};

	return timer_create(clock, &se, ret);
}

void deadline_host(struct host *h)
{
	deadline.host = h;
}

int deadline_create(struct redoma_error *err)
{
	if (create(CLOCK_MONOTONIC, SIGRTMIN, &deadline.wall) ||
	    create(CLOCK_PROCESS_CPUTIME_ID, SIGRTMIN + 1, &deadline.cpu))
		return err_sys(err, WHERE, "create the deadline's timers");
	deadline.until_us = deadline.fires_us = 0;
	return 0;
}

const volatile sig_atomic_t *deadline_stop(void)
{
	return &deadline.stop;
}

void deadline_watch(volatile int32_t *word)
{
	deadline.word = word;
	/* It may have passed before there was a word to set. */
	if (word && deadline.stop)
		*word = 1;
}

int deadline_rows(const struct deadline_batch *b, struct redoma_error *err)
{
	uint64_t now = clock_monotonic_us();

	if (deadline.stop || !b->row_us)
		return 0;
	deadline.row = deadline.first_row = b->words[0];
	deadline.told = 0;
	deadline.row_us = b->row_us;
	deadline.since_us = now;
	deadline.batch = *b;
	deadline.rows = b->words;
	if (fire_at(next_look(now)))
		return err_sys(err, WHERE, "arm the limit of a row");
	return 0;
}

int deadline_reopen(void *memory, size_t size, struct redoma_error *err)
{
	if (mprotect(memory, size, PROT_READ | PROT_WRITE))
		return err_sys(err, WHERE, "open the memory of a guest again");
	return 0;
}

static int set(timer_t t, uint64_t us)
{
	struct itimerspec it = {
		.it_value = {(time_t)(us / 1000000),
			     (long)(us % 1000000) * 1000}};

	return timer_settime(t, 0, &it, NULL);
}

/* To arm and disarm takes two system calls a run, and the next run's deadline
 * is nearly always later: a timer that is armed stays so, and on_deadline asks
 * the clock.  Each order of a signal and of these stores ends with the timer
 * armed for until_us or earlier. */
static int arm_wall(uint64_t wall_us)
{
	uint64_t now = clock_monotonic_us(), until = now + wall_us, fires;

	deadline.until_us = until < now ? UINT64_MAX : until;
	fires = deadline.fires_us;
	return fires && fires <= until ? 0 : fire_at(deadline.until_us);
}

int deadline_arm(uint64_t wall_us, uint64_t cpu_us, struct redoma_error *err)
{
	deadline.until_us = 0;
	deadline.kind = DEADLINE_NONE;
	deadline.stop = 0;
	deadline.word = NULL;
	deadline.rows = NULL;
	/* One thread cannot use more CPU time than passes by the clock. */
	deadline.cpu_armed = cpu_us < wall_us;
	if (arm_wall(wall_us) ||
	    (deadline.cpu_armed && set(deadline.cpu, cpu_us)))
		return err_sys(err, WHERE, "arm the deadline");
	return 0;
}

enum deadline_kind deadline_disarm(void)
{
	deadline.until_us = 0;
	deadline.word = NULL;
	deadline.rows = NULL;
	deadline.host = NULL;
	if (deadline.cpu_armed)
		set(deadline.cpu, 0);
	return (enum deadline_kind)deadline.kind;
}

#include "pool/make.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "pool/compile.h"
#include "pool/spawn.h"

#define WHERE "image"
/* It ends itself in time; this is for one that does not. */
#define LONGEST_US ((uint64_t)(COMPILE_DATA_SECONDS + 5) * 1000000)
#define LOOK_MS 500

/* Our ends of its two pipes, and how far it is. */
struct talk {
	int report, steps;
	enum compile_step step;
	size_t have;
	struct compile_report r;
};

static void talk_done(struct talk *t)
{
	if (t->report >= 0)
		close(t->report);
	if (t->steps >= 0)
		close(t->steps);
}

/* The last byte counts.  A byte that is no step is not believed. */
static void read_steps(struct talk *t)
{
	uint8_t room[16];
	ssize_t n = read(t->steps, room, sizeof room);

	if (n > 0 && room[n - 1] < COMPILE_STEPS_N)
		t->step = (enum compile_step)room[n - 1];
	if (n == 0)
		close(TAKE_FD(t->steps));
}

/* False: nothing more will come. */
static bool read_part(struct talk *t)
{
	ssize_t n = read(t->report, (char *)&t->r + t->have,
			 sizeof t->r - t->have);

	if (n > 0)
		t->have += (size_t)n;
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static int listen(const struct make_options *o, struct talk *t,
		  struct redoma_error *err)
{
	uint64_t end = clock_monotonic_us() + LONGEST_US;

	while (t->have < sizeof t->r) {
		struct pollfd p[2] = {{.fd = t->report, .events = POLLIN},
				      {.fd = t->steps, .events = POLLIN}};

		if (o->on_step && o->on_step(o->data, t->step))
			return err_set(err, REDOMA_E_BUSY, WHERE,
				       "cancelled while the image was made; "
				       "nothing was kept");
		if (clock_monotonic_us() > end)
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "redoma-compile does not end; run it "
				       "again");
		if (poll(p, 2, LOOK_MS) <= 0)
			continue;
		if (p[1].revents)
			read_steps(t);
		if (p[0].revents && !read_part(t))
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "redoma-compile ended without a "
				       "report");
	}
	return compile_check(&t->r, err);
}

/* Both ends above what the new process has. */
static int make_pipe(int *ret_ours, int *ret_theirs, struct redoma_error *err)
{
	int raw[2];

	if (pipe2(raw, O_CLOEXEC))
		return err_sys(err, WHERE, "make a pipe");
	*ret_ours = fd_lift(raw[0]);
	*ret_theirs = fd_lift(raw[1]);
	return *ret_ours < 0 || *ret_theirs < 0
		       ? err_sys(err, WHERE, "make a pipe") : 0;
}

static int start(const struct make_options *o, struct talk *t, int *ret_pidfd,
		 struct redoma_error *err)
{
	CLEANUP_FD int report = -1;
	CLEANUP_FD int steps = -1;
	char walls[16];
	const char *const argv[] = {"redoma-compile", "--data", walls, NULL};
	int r = make_pipe(&t->report, &report, err);

	if (!r)
		r = make_pipe(&t->steps, &steps, err);
	if (r)
		return r;
	snprintf(walls, sizeof walls, "%u", (unsigned)o->may_lack);
	return spawn_process(
		&(struct spawn_request){
			.path = o->program,
			.argv = argv,
			.fds = (const int[]){o->module, o->out, report,
					     o->library, o->python, steps},
			.n_fds = 6},
		ret_pidfd, err);
}

int make_image(const struct make_options *o, struct compile_report *ret,
	       struct redoma_error *err)
{
	CLEANUP(talk_done) struct talk t = {.report = -1, .steps = -1};
	int pidfd, r = start(o, &t, &pidfd, err);

	if (r)
		return r;
	r = listen(o, &t, err);
	spawn_end(pidfd, 0);
	if (!r)
		*ret = t.r;
	return r;
}

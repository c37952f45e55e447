#include "worker/rehearse.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "wire/plan_wire.h"
#include "wire/request.h"
#include "worker/run.h"
#include "worker/serve.h"

#define WHERE "worker"
#define SOURCE "1+1"
#define NAME "rehearsal"
#define TIME_US 10000000u
#define FUEL ((uint64_t)1 << 40) /* plenty for a run of ours */

static void script_plan(const struct kit *k, char **names, struct plan *ret)
{
	*ret = (struct plan){
		.limits = {.wall_us = TIME_US,
			   .cpu_us = TIME_US,
			   .memory_bytes = (uint64_t)256 << 20,
			   .output_bytes = 4096,
			   .files = 4,
			   .calls = 1,
			   .in_flight = 1},
		.clock = SOURCE_NONE,
		.random = SOURCE_NONE,
		.argv = names,
		.env = names + 1,
	};
	if (profile_has_fuel((enum profile)k->setup.profile))
		ret->limits.fuel = FUEL;
}

int rehearse_write(struct kit *k, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf bytes = {0};
	struct channel *c = k->channel;
	char *names[2] = {(char *)NAME, NULL};
	struct plan plan;
	int fds[FRAME_FDS_MAX];
	size_t n = 0;
	int r;

	channel_init(c, -1);
	script_plan(k, names, &plan);
	r = plan_encode(&plan, &bytes, fds, &n, err);
	if (!r)
		r = channel_put(c, FRAME_PLAN, bytes.data, bytes.len, 0, err);
	if (!r)
		r = channel_put(c, FRAME_NAME, NAME, strlen(NAME), 0, err);
	if (!r)
		r = channel_put(c, FRAME_SOURCE, SOURCE, strlen(SOURCE), 0,
				err);
	if (!r)
		r = channel_put(c, FRAME_INPUT, NULL, 0, 0, err);
	k->rehearsal = c->out;
	c->out = (struct buf){0};
	return r;
}

static int play(struct kit *k, int prompter, struct redoma_error *err)
{
	const struct buf *b = &k->rehearsal;
	struct run_result *res = k->result;
	int r;

	if (send(prompter, b->data, b->len, MSG_NOSIGNAL) != (ssize_t)b->len)
		return err_sys(err, WHERE, "send the rehearsal");
	r = request_read(k->channel, k->request, err);
	if (!r)
		r = run_once(k, k->channel, k->request, res, err);
	if (!r)
		r = serve_reply(k->channel, res, err);
	if (!r && res->outcome.status != REDOMA_STATUS_OK)
		r = err_set(err, REDOMA_E_WORKER, WHERE,
			    "the language image does not run: build it anew");
	exec_reset(k->exec);
	request_clear(k->request);
	return r;
}

int rehearse(struct kit *k, struct redoma_error *err)
{
	int sv[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return err_sys(err, WHERE, "make a socket pair");
	channel_init(k->channel, sv[1]);
	r = play(k, sv[0], err);
	close(sv[0]);
	close(sv[1]);
	return r;
}

/* A zygote and worker in one that speaks the core's protocol until it is given
 * a run, and then breaks it in the way that the source names: "//!kind". */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "wire/call.h"
#include "wire/frame.h"
#include "wire/outcome.h"
#include "wire/spawn.h"
#include "wire/tool.h"

static void send_raw(const struct channel *c, struct frame f, const void *body,
		     size_t n)
{
	if (write(c->fd, &f, sizeof f) < 0 || (n && write(c->fd, body, n) < 0))
		_exit(1);
}

static struct frame honest(const struct channel *c, uint16_t kind, uint32_t len)
{
	return (struct frame){.magic = FRAME_MAGIC,
			      .kind = kind,
			      .flags = FRAME_LAST,
			      .run = c->run,
			      .len = len};
}

static void send_outcome(struct channel *c, const struct outcome *o)
{
	struct buf b = {0};

	if (outcome_encode(o, &b, NULL) ||
	    channel_put(c, FRAME_OUTCOME, b.data, b.len, 0, NULL) ||
	    channel_flush(c, NULL, 0, NULL))
		_exit(1);
}

static void wrong_run(struct channel *c)
{
	struct frame f = honest(c, FRAME_OUT, 0);

	f.run ^= 1;
	send_raw(c, f, NULL, 0);
}

static void wrong_magic(struct channel *c)
{
	struct frame f = honest(c, FRAME_OUT, 0);

	f.magic = 0;
	send_raw(c, f, NULL, 0);
}

static void wrong_kind(struct channel *c)
{
	send_raw(c, honest(c, 999, 0), NULL, 0);
}

static void core_kind(struct channel *c)
{
	send_raw(c, honest(c, FRAME_PLAN, 0), NULL, 0);
}

static void huge_length(struct channel *c)
{
	send_raw(c, honest(c, FRAME_OUT, 0xffffffffu), NULL, 0);
}

static void forged_fds(struct channel *c)
{
	struct frame f = honest(c, FRAME_OUT, 0);

	f.n_fds = 200;
	send_raw(c, f, NULL, 0);
}

static void garbage(struct channel *c)
{
	char junk[5000];

	memset(junk, 0xa5, sizeof junk);
	if (write(c->fd, junk, sizeof junk) < 0)
		_exit(1);
}

static void bad_value(struct channel *c)
{
	struct outcome o = {.status = REDOMA_STATUS_OK};

	if (channel_put(c, FRAME_VALUE, "1,\"status\":\"ok\"", 15, 0, NULL))
		_exit(1);
	send_outcome(c, &o);
}

static void flood(struct channel *c)
{
	static char bytes[FRAME_BODY_MAX];

	while (!channel_send(c, FRAME_OUT, 0, bytes, sizeof bytes, NULL))
		;
}

static void outcome_flood(struct channel *c)
{
	static char bytes[FRAME_BODY_MAX];

	while (!channel_send(c, FRAME_OUTCOME, 0, bytes, sizeof bytes, NULL))
		;
}

static void short_outcome(struct channel *c)
{
	send_raw(c, honest(c, FRAME_OUTCOME, 3), "abc", 3);
}

static void forged_counts(struct channel *c)
{
	unsigned char bytes[512];

	memset(bytes, 0xff, sizeof bytes);
	send_raw(c, honest(c, FRAME_OUTCOME, sizeof bytes), bytes,
		 sizeof bytes);
}

static void bad_call(struct channel *c)
{
	unsigned char bytes[64];

	memset(bytes, 0xee, sizeof bytes);
	send_raw(c, honest(c, FRAME_CALL, sizeof bytes), bytes, sizeof bytes);
}

/* A file it never made, published outside the granted directory. */
static void escape_publish(struct channel *c)
{
	struct outcome_written w = {0, 1, {"../escaped", 10}};
	struct outcome o = {.status = REDOMA_STATUS_OK,
			    .n_written = 1,
			    .written = &w};

	send_outcome(c, &o);
}

static void claim_breach(struct channel *c)
{
	struct outcome o = {.status = REDOMA_STATUS_BREACH};

	send_outcome(c, &o);
}

static void silence(struct channel *c)
{
	(void)c;
	for (;;)
		pause();
}

static void hang_up(struct channel *c)
{
	close(c->fd);
	for (;;)
		pause();
}

/* Frames that cost nothing, so that no count of bytes ever ends them. */
static void flood_of(struct channel *c, struct frame f)
{
	static struct frame many[2048];

	for (size_t i = 0; i < sizeof many / sizeof *many; i++)
		many[i] = f;
	while (write(c->fd, many, sizeof many) > 0)
		;
}

static void empty_flood(struct channel *c)
{
	flood_of(c, honest(c, FRAME_OUT, 0));
}

static void outcome_drip(struct channel *c)
{
	struct frame f = honest(c, FRAME_OUTCOME, 0);

	f.flags = 0;
	flood_of(c, f);
}

static void call_flood(struct channel *c)
{
	struct call call = {.op = CALL_STAT};
	struct buf b = {0};
	const void *body;
	struct frame f;

	if (call_encode(&call, &b, NULL))
		_exit(1);
	do
		send_raw(c, honest(c, FRAME_CALL, (uint32_t)b.len), b.data,
			 b.len);
	while (!channel_recv(c, UINT64_MAX, &f, &body, NULL));
}

static void send_failed(struct channel *c, int code)
{
	struct redoma_error e = {.code = code};

	/* Not ended: whoever prints it reads on. */
	memset(e.where, 'w', sizeof e.where);
	memset(e.text, '\n', sizeof e.text);
	send_raw(c, honest(c, FRAME_FAILED, sizeof e), &e, sizeof e);
}

static void failed_endless(struct channel *c)
{
	send_failed(c, REDOMA_E_UNSUPPORTED);
}

static void failed_positive(struct channel *c)
{
	send_failed(c, 77);
}

/* Fills the core's table of descriptors. */
static void send_fds(struct channel *c)
{
	int fds[FRAME_FDS_MAX];

	for (size_t i = 0; i < FRAME_FDS_MAX; i++)
		fds[i] = c->fd;
	if (channel_send_fds(c, FRAME_OUT, NULL, 0, fds, FRAME_FDS_MAX, NULL))
		_exit(1);
	pause();
}

static void send_call(struct channel *c, uint32_t id, const char *text,
		      size_t n)
{
	if (tool_put(c, FRAME_TOOL, id, text, n, NULL) ||
	    channel_flush(c, NULL, 0, NULL))
		_exit(1);
}

/* Without a grant, no worker of ours sends one. */
static void tool(struct channel *c)
{
	send_call(c, 1, "t\0{}", 4);
	pause();
}

static void tool_again(struct channel *c)
{
	send_call(c, 1, "t\0{}", 4);
	send_call(c, 1, "t\0{}", 4);
	pause();
}

static void tool_crowd(struct channel *c)
{
	for (uint32_t i = 1; i < 1000; i++)
		send_call(c, i, "t\0{}", 4);
	pause();
}

/* Under way for ever, as much as may be: then it says nothing more. */
static void tool_waits(struct channel *c)
{
	send_call(c, 1, "t\0{}", 4);
	pause();
}

static void tool_huge(struct channel *c)
{
	static char bytes[FRAME_BODY_MAX];

	while (!channel_send(c, FRAME_TOOL, 0, bytes, sizeof bytes, NULL))
		;
}

static void tool_drip(struct channel *c)
{
	struct frame f = honest(c, FRAME_TOOL, 0);

	f.flags = 0;
	flood_of(c, f);
}

/* What it would like to have been told. */
static void tool_return(struct channel *c)
{
	if (tool_put(c, FRAME_RETURN, 1, "\0" "1", 2, NULL) ||
	    channel_flush(c, NULL, 0, NULL))
		_exit(1);
	pause();
}

/* Half a frame, while an answer is awaited. */
static void tool_half(struct channel *c)
{
	struct frame f = honest(c, FRAME_TOOL, 100);

	send_call(c, 1, "t\0{}", 4);
	send_raw(c, f, "half", 4);
	pause();
}

/* Past the worker's own look at the policy: the core has its own. */
static void hear_all(struct channel *c)
{
	struct frame f;
	const void *body;

	while (!channel_recv(c, UINT64_MAX, &f, &body, NULL))
		continue;
}

static void tool_unchecked(struct channel *c)
{
	struct outcome o = {.status = REDOMA_STATUS_OK};

	send_call(c, 1, "t\0{\"n\":6}", 9);
	send_call(c, 2, "other\0{}", 8);
	send_outcome(c, &o);
	/* The core still answers: to one that is gone it could not. */
	hear_all(c);
}

static void be_honest(struct channel *c)
{
	struct outcome o = {.status = REDOMA_STATUS_OK};

	if (channel_put(c, FRAME_VALUE, "42", 2, 0, NULL))
		_exit(1);
	send_outcome(c, &o);
}

/* Says that it is done, and goes on. */
static void linger(struct channel *c)
{
	be_honest(c);
	for (;;)
		pause();
}

static void bad_value_lingers(struct channel *c)
{
	bad_value(c);
	for (;;)
		pause();
}

static const struct way {
	const char *name;
	void (*go)(struct channel *c);
} ways[] = {
	{"honest", be_honest},		 {"wrong-run", wrong_run},
	{"wrong-magic", wrong_magic},	 {"wrong-kind", wrong_kind},
	{"core-kind", core_kind},	 {"huge-length", huge_length},
	{"forged-fds", forged_fds},	 {"garbage", garbage},
	{"bad-value", bad_value},	 {"flood", flood},
	{"outcome-flood", outcome_flood}, {"short-outcome", short_outcome},
	{"forged-counts", forged_counts}, {"bad-call", bad_call},
	{"escape-publish", escape_publish}, {"claim-breach", claim_breach},
	{"silence", silence},		 {"hang-up", hang_up},
	{"empty-flood", empty_flood},	 {"outcome-drip", outcome_drip},
	{"call-flood", call_flood},	 {"failed-endless", failed_endless},
	{"failed-positive", failed_positive}, {"send-fds", send_fds},
	{"tool", tool},			 {"tool-again", tool_again},
	{"tool-crowd", tool_crowd},	 {"tool-waits", tool_waits},
	{"tool-huge", tool_huge},	 {"tool-drip", tool_drip},
	{"tool-return", tool_return},	 {"tool-half", tool_half},
	{"tool-unchecked", tool_unchecked},
	{"linger", linger},		 {"bad-value-lingers", bad_value_lingers},
};

static void serve(int fd)
{
	struct channel *c = malloc(sizeof *c);
	char source[64] = "";
	struct frame f;
	const void *body;

	if (!c)
		_exit(1);
	channel_init(c, fd);
	c->adopt = true;
	do {
		if (channel_recv(c, UINT64_MAX, &f, &body, NULL))
			_exit(0);
		if (f.kind == FRAME_SOURCE && f.len < sizeof source)
			memcpy(source, body, f.len);
	} while (f.kind != FRAME_INPUT);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(source, ways[i].name))
			ways[i].go(c);
	_exit(0);
}

static void give_birth(struct channel *c, uint32_t slot)
{
	struct spawn_born b = {.slot = slot, .cpu = -1};
	int sv[2], fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		_exit(1);
	b.pid = fork();
	if (b.pid == 0) {
		close(sv[1]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(sv[0]);
	}
	close(sv[0]);
	b.ready.abi = SPAWN_ABI;
	fds[0] = sv[1];
	fds[1] = (int)syscall(SYS_pidfd_open, b.pid, 0);
	if (channel_send_fds(c, FRAME_BORN, &b, sizeof b, fds, 2, NULL))
		_exit(1);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	struct channel *c = malloc(sizeof *c);
	struct spawn_ready ready = {.abi = SPAWN_ABI};
	struct frame f;
	const void *body;
	uint32_t slot = 0;

	if (!c)
		return 1;
	channel_init(c, 3);
	if (channel_recv(c, UINT64_MAX, &f, &body, NULL) ||
	    channel_send(c, FRAME_READY, FRAME_LAST, &ready, sizeof ready,
			 NULL))
		return 1;
	/* Its children end with it. */
	while (!channel_recv(c, UINT64_MAX, &f, &body, NULL))
		give_birth(c, ++slot);
	return 0;
}

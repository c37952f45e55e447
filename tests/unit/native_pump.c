/* What a program prints: counted, cut, never waited for. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/pump.h"

struct rig {
	struct pump pump;
	struct channel *channel, *core;
	int out, err, in;	    /* ours */
	int w_out, w_err, r_in; /* the program's */
};

static void make_pipe(int *reads, int *writes, int *ours)
{
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	*reads = p[0];
	*writes = p[1];
	assert_int_equal(fcntl(*ours, F_SETFL, O_NONBLOCK), 0);
}

static void begin(struct rig *r, uint64_t left)
{
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	r->channel = malloc(sizeof *r->channel);
	r->core = malloc(sizeof *r->core);
	channel_init(r->channel, sv[0]);
	channel_init(r->core, sv[1]);
	make_pipe(&r->out, &r->w_out, &r->out);
	make_pipe(&r->err, &r->w_err, &r->err);
	make_pipe(&r->r_in, &r->in, &r->in);
	r->pump = (struct pump){.channel = r->channel,
				.out = &r->out,
				.err = &r->err,
				.in = &r->in,
				.left = left};
}

static void shut(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void end(struct rig *r)
{
	shut(r->out);
	shut(r->err);
	shut(r->in);
	shut(r->w_out);
	shut(r->w_err);
	shut(r->r_in);
	shut(r->channel->fd);
	shut(r->core->fd);
	free(r->channel);
	free(r->core);
}

static void prints(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)),
			 (ssize_t)strlen(text));
}

static void core_hears(struct rig *r, unsigned kind, const char *text)
{
	struct frame f;
	const void *body;

	assert_int_equal(channel_recv(r->core, 0, &f, &body, NULL), 0);
	assert_int_equal(f.kind, kind);
	assert_int_equal(f.len, strlen(text));
	assert_memory_equal(body, text, f.len);
}

static void core_hears_nothing(struct rig *r)
{
	struct frame f;
	const void *body;

	assert_int_equal(channel_recv(r->core, 0, &f, &body, NULL),
			 REDOMA_E_BUSY);
}

static void both_streams(void **state)
{
	struct rig r;

	(void)state;
	begin(&r, 100);
	assert_int_equal(pump_take(&r.pump, FRAME_OUT, NULL), 0);
	core_hears_nothing(&r);
	prints(r.w_out, "hello");
	prints(r.w_err, "oh");
	assert_int_equal(pump_take(&r.pump, FRAME_OUT, NULL), 0);
	assert_int_equal(pump_take(&r.pump, FRAME_ERR, NULL), 0);
	core_hears(&r, FRAME_OUT, "hello");
	core_hears(&r, FRAME_ERR, "oh");
	assert_int_equal(r.pump.left, 93);
	close(r.w_out);
	r.w_out = -1;
	assert_int_equal(pump_take(&r.pump, FRAME_OUT, NULL), 0);
	assert_int_equal(r.out, -1);
	core_hears_nothing(&r);
	end(&r);
}

static void cut_at_the_limit(void **state)
{
	struct rig r;

	(void)state;
	begin(&r, 8);
	prints(r.w_out, "hello");
	assert_int_equal(pump_take(&r.pump, FRAME_OUT, NULL), 0);
	assert_false(r.pump.over);
	prints(r.w_err, "world");
	assert_int_equal(pump_take(&r.pump, FRAME_ERR, NULL), 0);
	assert_true(r.pump.over);
	core_hears(&r, FRAME_OUT, "hello");
	core_hears(&r, FRAME_ERR, "wor");
	prints(r.w_out, "more");
	assert_int_equal(pump_drain(&r.pump, NULL), 0);
	core_hears_nothing(&r);
	end(&r);
}

/* Exactly the limit is not over it. */
static void exactly(void **state)
{
	struct rig r;

	(void)state;
	begin(&r, 5);
	prints(r.w_out, "hello");
	assert_int_equal(pump_drain(&r.pump, NULL), 0);
	assert_false(r.pump.over);
	prints(r.w_out, "!");
	assert_int_equal(pump_drain(&r.pump, NULL), 0);
	assert_true(r.pump.over);
	end(&r);
}

static void drains_what_the_dead_left(void **state)
{
	struct rig r;

	(void)state;
	begin(&r, 1 << 20);
	prints(r.w_out, "last words");
	prints(r.w_err, "and errors");
	close(r.w_out);
	close(r.w_err);
	r.w_out = r.w_err = -1;
	assert_int_equal(pump_drain(&r.pump, NULL), 0);
	core_hears(&r, FRAME_OUT, "last words");
	core_hears(&r, FRAME_ERR, "and errors");
	end(&r);
}

/* One that fills its pipe for ever does not keep us. */
static void a_core_that_does_not_read(void **state)
{
	static char text[FRAME_BODY_MAX];
	struct rig r;
	int n = 0, e = 0;

	(void)state;
	begin(&r, UINT64_MAX);
	r.channel->send_by_us = 1; /* long past */
	memset(text, 'x', sizeof text);
	for (; n < 10000 && !e; n++) {
		assert_int_equal(write(r.w_out, text, sizeof text),
				 sizeof text);
		while (!e && n < 10000) {
			uint64_t left = r.pump.left;

			e = pump_take(&r.pump, FRAME_OUT, NULL);
			if (left == r.pump.left)
				break;
		}
	}
	assert_int_equal(e, REDOMA_E_BUSY);
	end(&r);
}

static void feeds(void **state)
{
	size_t size = (size_t)1 << 20, got = 0;
	char *text = malloc(size), *to = malloc(size);
	struct rig r;
	ssize_t n;

	(void)state;
	begin(&r, 1);
	assert_non_null(text);
	assert_non_null(to);
	memset(text, 'i', size);
	r.pump.input = text;
	r.pump.input_left = size;
	while (r.in >= 0) {
		pump_feed(&r.pump);
		n = read(r.r_in, to, size);
		assert_true(n > 0);
		got += (size_t)n;
	}
	while ((n = read(r.r_in, to, size)) > 0)
		got += (size_t)n;
	assert_int_equal(got, size);
	free(text);
	free(to);
	end(&r);
}

static void nobody_reads_the_input(void **state)
{
	struct rig r;

	(void)state;
	begin(&r, 1);
	close(r.r_in);
	r.r_in = -1;
	r.pump.input = "text";
	r.pump.input_left = 4;
	pump_feed(&r.pump);
	assert_int_equal(r.in, -1);
	pump_feed(&r.pump);
	end(&r);
}

static void drops(void **state)
{
	struct rig r;
	char head[4];

	(void)state;
	begin(&r, 100);
	prints(r.w_err, "Traceback");
	pump_drop(r.err, head, sizeof head);
	assert_string_equal(head, "Tra");
	pump_drop(r.err, head, sizeof head);
	assert_string_equal(head, "");
	pump_drop(-1, head, sizeof head);
	assert_string_equal(head, "");
	prints(r.w_out, "noise");
	pump_drop(r.out, NULL, 0);
	assert_int_equal(pump_take(&r.pump, FRAME_OUT, NULL), 0);
	core_hears_nothing(&r);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_streams),
		cmocka_unit_test(cut_at_the_limit),
		cmocka_unit_test(exactly),
		cmocka_unit_test(drains_what_the_dead_left),
		cmocka_unit_test(a_core_that_does_not_read),
		cmocka_unit_test(feeds),
		cmocka_unit_test(nobody_reads_the_input),
		cmocka_unit_test(drops),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Frames: what is sent arrives, what breaks the protocol is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "wire/frame.h"

struct pair {
	struct channel a, b;
};

static int set_up(void **state)
{
	struct pair *p = malloc(sizeof *p);
	int sv[2];

	if (!p || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return -1;
	channel_init(&p->a, sv[0]);
	channel_init(&p->b, sv[1]);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	channel_done(&p->a);
	channel_done(&p->b);
	if (p->a.fd >= 0)
		close(p->a.fd);
	close(p->b.fd);
	free(p);
	return 0;
}

static struct frame raw(uint16_t kind, uint32_t len)
{
	return (struct frame){.magic = FRAME_MAGIC, .kind = kind, .len = len};
}

static int recv_raw(struct pair *p, const struct frame *f)
{
	struct frame got;
	const void *body;

	assert_int_equal(write(p->a.fd, f, sizeof *f), sizeof *f);
	return channel_recv(&p->b, 100000, &got, &body, NULL);
}

static void arrives(void **state)
{
	struct pair *p = *state;
	struct frame f;
	const void *body;

	p->a.run = p->b.run = 7;
	assert_int_equal(channel_send(&p->a, FRAME_OUT, 0, "hello", 5, NULL),
			 0);
	assert_int_equal(channel_send(&p->a, FRAME_ERR, FRAME_LAST, NULL, 0,
				      NULL),
			 0);
	assert_int_equal(channel_recv(&p->b, UINT64_MAX, &f, &body, NULL), 0);
	assert_int_equal(f.kind, FRAME_OUT);
	assert_int_equal(f.len, 5);
	assert_memory_equal(body, "hello", 5);
	assert_int_equal(channel_recv(&p->b, UINT64_MAX, &f, &body, NULL), 0);
	assert_int_equal(f.kind, FRAME_ERR);
	assert_int_equal(f.flags, FRAME_LAST);
}

static void long_messages_are_split(void **state)
{
	struct pair *p = *state;
	size_t want = FRAME_BODY_MAX + 17, got = 0;
	char *bytes = calloc(1, want);
	struct frame f;
	const void *body;

	assert_int_equal(channel_put(&p->a, FRAME_VALUE, bytes, want, 0, NULL),
			 0);
	assert_int_equal(channel_flush(&p->a, NULL, 0, NULL), 0);
	do {
		assert_int_equal(
			channel_recv(&p->b, UINT64_MAX, &f, &body, NULL), 0);
		got += f.len;
	} while (!(f.flags & FRAME_LAST));
	assert_int_equal(got, want);
	free(bytes);
}

static void descriptors_travel(void **state)
{
	struct pair *p = *state;
	int pipe_fds[2], fd;
	struct frame f;
	const void *body;

	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(channel_send_fds(&p->a, FRAME_PLAN, "x", 1, pipe_fds,
					  2, NULL),
			 0);
	assert_int_equal(channel_recv(&p->b, UINT64_MAX, &f, &body, NULL), 0);
	assert_int_equal(f.n_fds, 2);
	fd = channel_take_fd(&p->b);
	assert_true(fd >= 0);
	close(fd);
	fd = channel_take_fd(&p->b);
	assert_int_equal(write(fd, "y", 1), 1);
	close(fd);
	assert_int_equal(channel_take_fd(&p->b), -1);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void another_run_is_refused(void **state)
{
	struct pair *p = *state;
	struct frame f = raw(FRAME_OUT, 0);

	p->b.run = 1;
	f.run = 2;
	assert_int_equal(recv_raw(p, &f), REDOMA_E_INVALID);
}

static void broken_headers_are_refused(void **state)
{
	struct pair *p = *state;
	struct frame bad[] = {raw(0, 0), raw(FRAME_KIND_MAX, 0),
			      raw(FRAME_OUT, FRAME_BODY_MAX + 1),
			      raw(FRAME_OUT, UINT32_MAX), raw(FRAME_OUT, 0),
			      raw(FRAME_OUT, 0)};
	size_t i;

	bad[4].magic ^= 1;
	bad[5].n_fds = 1; /* and none comes */
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(recv_raw(p, &bad[i]), REDOMA_E_INVALID);
		p->b.at = p->b.have = 0;
	}
}

static void time_out_and_end(void **state)
{
	struct pair *p = *state;
	struct frame f = raw(FRAME_OUT, 10);

	/* A header whose body never comes is not a frame. */
	assert_int_equal(recv_raw(p, &f), REDOMA_E_BUSY);
	close(p->a.fd);
	p->a.fd = -1;
	assert_int_equal(channel_recv(&p->b, UINT64_MAX, &f,
				      &(const void *){NULL}, NULL),
			 REDOMA_E_WORKER);
	assert_int_equal(channel_send(&p->b, FRAME_OUT, 0, "x", 1, NULL),
			 REDOMA_E_WORKER);
}

static void too_large_to_send(void **state)
{
	struct pair *p = *state;
	struct redoma_error err;

	assert_int_equal(channel_send(&p->a, FRAME_OUT, 0, "",
				      FRAME_BODY_MAX + 1, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "over the cap"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(arrives),
		CASE(long_messages_are_split),
		CASE(descriptors_travel),
		CASE(another_run_is_refused),
		CASE(broken_headers_are_refused),
		CASE(time_out_and_end),
		CASE(too_large_to_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

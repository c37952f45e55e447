/* The guest's host, with the core's end of the socket in our hand: answers are
 * sent before the questions, which then find them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/call.h"
#include "worker/host.h"

struct pair {
	struct channel core, worker;
	struct limits limits;
	volatile sig_atomic_t stop;
	struct host host;
	const struct wasi_host *ops;
	struct buf out, err; /* what the core heard */
	int frames;
};

static int set_up(void **state)
{
	struct pair *p = calloc(1, sizeof *p);
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    fds),
			 0);
	channel_init(&p->core, fds[0]);
	channel_init(&p->worker, fds[1]);
	p->core.run = p->worker.run = 42;
	p->limits.output_bytes = 4 << 20;
	host_begin(&p->host, &p->worker, &p->limits, &p->stop);
	p->ops = host_ops(&p->host);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	close(p->core.fd);
	close(p->worker.fd);
	channel_done(&p->core);
	channel_done(&p->worker);
	buf_done(&p->out);
	buf_done(&p->err);
	free(p);
	return 0;
}

/* Reads frames until none comes; the last call goes to *ret. */
static void hear(struct pair *p, uint64_t wait_us, struct call *ret)
{
	const void *body;
	struct frame f;

	while (!channel_recv(&p->core, wait_us, &f, &body, NULL)) {
		p->frames++;
		if (f.kind == FRAME_OUT)
			assert_int_equal(buf_add(&p->out, body, f.len), 0);
		else if (f.kind == FRAME_ERR)
			assert_int_equal(buf_add(&p->err, body, f.len), 0);
		else if (f.kind == FRAME_CALL && ret)
			assert_int_equal(call_decode(body, f.len, ret, NULL),
					 0);
		else
			fail_msg("kind %u", f.kind);
	}
}

static void answer(struct pair *p, const struct answer *a, int fd)
{
	CLEANUP(buf_done) struct buf b = {0};

	assert_int_equal(answer_encode(a, &b, NULL), 0);
	assert_int_equal(channel_send_fds(&p->core, FRAME_ANSWER, b.data,
					  b.len, &fd, fd >= 0, NULL),
			 0);
}

static int print(struct pair *p, int stream, const char *text)
{
	return p->ops->write(p->ops->data, stream, text, strlen(text));
}

static void output_is_collected(void **state)
{
	struct pair *p = *state;

	assert_int_equal(print(p, 1, "one "), 0);
	assert_int_equal(print(p, 1, "two "), 0);
	assert_int_equal(print(p, 2, "oops"), 0);
	assert_int_equal(print(p, 1, "three"), 0);
	hear(p, 0, NULL);
	assert_int_equal(p->frames, 0);
	assert_false(host_flush(&p->host));
	hear(p, 0, NULL);
	assert_string_equal(p->out.data, "one two three");
	assert_string_equal(p->err.data, "oops");
	assert_int_equal(p->frames, 3);
	assert_int_equal(host_left(&p->host), (4 << 20) - 17);
}

static void *listen_all(void *data)
{
	hear(data, 300000, NULL);
	return NULL;
}

/* Many small prints, then one of a megabyte: few frames, all bytes. */
static void many_prints(void **state)
{
	struct pair *p = *state;
	CLEANUP_FREE char *big = malloc(1 << 20);
	char line[16];
	pthread_t t;
	int i;

	memset(big, 'B', 1 << 20);
	assert_int_equal(pthread_create(&t, NULL, listen_all, p), 0);
	for (i = 0; i < 100000; i++) {
		snprintf(line, sizeof line, "%09d\n", i);
		assert_int_equal(print(p, 1, line), 0);
	}
	assert_int_equal(p->ops->write(p->ops->data, 1, big, 1 << 20), 0);
	assert_int_equal(print(p, 1, "end"), 0);
	assert_false(host_flush(&p->host));
	pthread_join(t, NULL);
	assert_int_equal(p->out.len, 1000000 + (1 << 20) + 3);
	for (i = 0; i < 100000; i++)
		assert_int_equal(atoi(p->out.data + i * 10), i);
	assert_memory_equal(p->out.data + 1000000, big, 1 << 20);
	assert_string_equal(p->out.data + 1000000 + (1 << 20), "end");
	assert_true(p->frames < 200);
}

static void output_limit(void **state)
{
	struct pair *p = *state;

	p->limits.output_bytes = 10;
	host_begin(&p->host, &p->worker, &p->limits, &p->stop);
	assert_int_equal(print(p, 1, "12345678"), 0);
	assert_int_equal(print(p, 2, "abcdefgh"), EFBIG);
	assert_int_equal(print(p, 1, "x"), EFBIG);
	assert_int_equal(host_left(&p->host), 0);
	assert_true(host_flush(&p->host));
	hear(p, 0, NULL);
	assert_string_equal(p->out.data, "12345678");
	assert_string_equal(p->err.data, "ab");
}

static void exact_limit(void **state)
{
	struct pair *p = *state;

	p->limits.output_bytes = 10;
	host_begin(&p->host, &p->worker, &p->limits, &p->stop);
	assert_int_equal(print(p, 1, "1234567890"), 0);
	assert_int_equal(print(p, 1, ""), 0);
	assert_false(host_flush(&p->host));
	assert_int_equal(print(p, 1, "x"), EFBIG);
}

static void opening(void **state)
{
	struct pair *p = *state;
	struct wasi_opened o;
	struct call c;
	CLEANUP_FD int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(print(p, 1, "before"), 0);
	answer(p,
	       &(struct answer){.has_fd = true,
				.handle = 7,
				.st = {.type = CALL_TYPE_REGULAR, .size = 9}},
	       null);
	assert_int_equal(p->ops->open(p->ops->data, 3, "a/b",
				      WASI_OPEN_NOFOLLOW, &o),
			 0);
	assert_true(o.fd >= 0 && o.fd != null);
	close(o.fd);
	assert_int_equal(o.handle, 7);
	assert_int_equal(o.st.size, 9);
	assert_int_equal(o.st.type, CALL_TYPE_REGULAR);
	hear(p, 0, &c);
	/* What was printed before is heard before. */
	assert_string_equal(p->out.data, "before");
	assert_true(c.op == CALL_OPEN && c.grant == 3 &&
		    c.flags == CALL_NOFOLLOW && str_equal(c.path, STR("a/b")));
	answer(p, &(struct answer){.error = EXDEV}, -1);
	o.handle = 99;
	assert_int_equal(p->ops->open(p->ops->data, 0, "..", 0, &o), EXDEV);
	assert_int_equal(o.handle, 99);
	assert_false(host_broke(&p->host));
}

static void other_questions(void **state)
{
	struct pair *p = *state;
	CLEANUP(buf_done) struct buf b = {0};
	struct wasi_stat st;
	struct call c;
	uint64_t next;

	answer(p, &(struct answer){.st = {.mtim_ns = -5}}, -1);
	assert_int_equal(p->ops->stat(p->ops->data, 1, "x", false, &st), 0);
	assert_int_equal(st.mtim_ns, -5);
	hear(p, 0, &c);
	assert_true(c.op == CALL_STAT && c.flags == CALL_NOFOLLOW);
	answer(p, &(struct answer){.next = 8, .data = STR("entries")}, -1);
	assert_int_equal(p->ops->list(p->ops->data, 1, "", 6, &b, &next), 0);
	assert_int_equal(next, 8);
	answer(p, &(struct answer){.data = STR("target")}, -1);
	assert_int_equal(p->ops->readlink(p->ops->data, 1, "l", &b), 0);
	assert_string_equal(b.data, "entriestarget");
	answer(p, &(struct answer){0}, -1);
	assert_int_equal(p->ops->close(p->ops->data, 5), 0);
	hear(p, 0, &c);
	assert_true(c.op == CALL_CLOSE && c.handle == 5);
	/* Nothing is kept under number 0. */
	p->frames = 0;
	assert_int_equal(p->ops->close(p->ops->data, 0), 0);
	hear(p, 0, NULL);
	assert_int_equal(p->frames, 0);
}

static void reading_in_pieces(void **state)
{
	static char data[CALL_DATA_MAX], got[2 * CALL_DATA_MAX];
	struct pair *p = *state;
	struct call c;
	size_t n = 0;

	memset(data, 'r', sizeof data);
	answer(p, &(struct answer){.data = {data, sizeof data}}, -1);
	answer(p, &(struct answer){.data = STR("tail")}, -1);
	assert_int_equal(p->ops->pread(p->ops->data, 9, got, sizeof got, 100,
				       &n),
			 0);
	assert_int_equal(n, sizeof data + 4);
	assert_memory_equal(got + sizeof data, "tail", 4);
	hear(p, 0, &c);
	assert_true(c.offset == 100 + sizeof data && c.handle == 9);
	/* More than was asked for is not taken. */
	answer(p, &(struct answer){.data = STR("too long")}, -1);
	assert_int_equal(p->ops->pread(p->ops->data, 9, got, 3, 0, &n), 0);
	assert_int_equal(n, 0);
	answer(p, &(struct answer){.error = EDQUOT}, -1);
	assert_int_equal(p->ops->pread(p->ops->data, 9, got, 3, 0, &n),
			 EDQUOT);
}

static void *set_stop(void *data)
{
	struct pair *p = data;

	usleep(50000);
	p->stop = 1;
	return NULL;
}

/* The core does not answer, and the deadline passes. */
static void stopped_while_waiting(void **state)
{
	struct pair *p = *state;
	uint64_t from = clock_monotonic_us();
	struct wasi_stat st;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, set_stop, p), 0);
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EINTR);
	assert_true(clock_monotonic_us() - from >= 50000);
	assert_true(clock_monotonic_us() - from < 500000);
	pthread_join(t, NULL);
	assert_true(host_broke(&p->host));
	/* And then nothing is asked any more. */
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EINTR);
	p->frames = 0;
	hear(p, 0, &(struct call){0});
	assert_int_equal(p->frames, 1);
}

/* The answer came in time but so did the deadline: still in step. */
static void stopped_with_an_answer(void **state)
{
	struct pair *p = *state;
	struct wasi_stat st = {.size = 1};

	p->stop = 1;
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EINTR);
	assert_false(host_broke(&p->host));
	assert_int_equal(print(p, 1, "last words"), 0);
	assert_false(host_flush(&p->host));
	hear(p, 0, NULL);
	assert_string_equal(p->out.data, "last words");
}

static void bad_answers(void **state)
{
	struct pair *p = *state;
	struct wasi_stat st;

	assert_int_equal(channel_send(&p->core, FRAME_ANSWER, FRAME_LAST,
				      "junk", 4, NULL),
			 0);
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EPIPE);
	assert_true(host_broke(&p->host));
	assert_int_equal(print(p, 1, "x"), EPIPE);
	host_begin(&p->host, &p->worker, &p->limits, &p->stop);
	assert_int_equal(channel_send(&p->core, FRAME_PLAN, FRAME_LAST, "", 0,
				      NULL),
			 0);
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EPIPE);
	host_begin(&p->host, &p->worker, &p->limits, &p->stop);
	shutdown(p->core.fd, SHUT_RDWR);
	assert_int_equal(p->ops->stat(p->ops->data, 0, "", true, &st), EPIPE);
}

static void rescue(void **state)
{
	struct pair *p = *state;

	host_rescue(&p->host);
	assert_int_equal(print(p, 2, "err"), 0);
	assert_int_equal(print(p, 1, "out"), 0);
	p->host.busy = 1;
	host_rescue(&p->host);
	hear(p, 0, NULL);
	assert_int_equal(p->frames, 0);
	p->host.busy = 0;
	host_rescue(&p->host);
	hear(p, 0, NULL);
	assert_string_equal(p->out.data, "out");
	assert_string_equal(p->err.data, "err");
	assert_int_equal(print(p, 1, "!"), 0);
	assert_false(host_flush(&p->host));
	hear(p, 0, NULL);
	assert_string_equal(p->out.data, "out!");
	assert_int_equal(p->frames, 3);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(output_is_collected),
		T(many_prints),
		T(output_limit),
		T(exact_limit),
		T(opening),
		T(other_questions),
		T(reading_in_pieces),
		T(stopped_while_waiting),
		T(stopped_with_an_answer),
		T(bad_answers),
		T(rescue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Calls of tools as the guest's host sends and hears them, with the core's end
 * of the socket in our hand. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/call.h"
#include "wire/tool.h"
#include "worker/host.h"

struct pair {
	struct channel core, worker;
	struct limits limits;
	struct host host;
	const struct wasi_host *ops;
};

static volatile sig_atomic_t stop;

static int set_up(void **state)
{
	struct pair *p = calloc(1, sizeof *p);
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    fds), 0);
	channel_init(&p->core, fds[0]);
	channel_init(&p->worker, fds[1]);
	p->core.run = p->worker.run = 42;
	p->limits.output_bytes = 4096;
	p->limits.in_flight = 3;
	stop = 0;
	host_begin(&p->host, &p->worker, &p->limits, &stop);
	p->ops = host_ops(&p->host);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *p = *state;

	host_done(&p->host);
	close(p->core.fd);
	close(p->worker.fd);
	channel_done(&p->core);
	channel_done(&p->worker);
	free(p);
	return 0;
}

static void call(struct pair *p, const char *text, uint32_t id)
{
	uint32_t got = 0;

	assert_int_equal(p->ops->tool_call(&p->host, text, strlen(text) + 1,
					   &got),
			 0);
	assert_int_equal(got, id);
}

static void give(struct pair *p, uint32_t id, const void *text, size_t n)
{
	assert_int_equal(tool_put(&p->core, FRAME_RETURN, id, text, n, NULL),
			 0);
	assert_int_equal(channel_flush(&p->core, NULL, 0, NULL), 0);
}

/* What wait tells, and what is then taken. */
static uint32_t take(struct pair *p, uint64_t timeout_us, const char *text)
{
	uint32_t id = 77, len = 77, again;
	const void *got;

	assert_int_equal(p->ops->tool_wait(&p->host, timeout_us, &id, &len),
			 0);
	if (!id)
		return 0;
	assert_int_equal(p->ops->tool_take(&p->host, id, &got, &again), 0);
	assert_int_equal(len, again);
	if (text) {
		assert_int_equal(len, strlen(text));
		assert_memory_equal(got, text, len);
	}
	assert_int_equal(p->ops->tool_take(&p->host, id, &got, &again),
			 ENOENT);
	return id;
}

static void calls_leave_together_after_the_text(void **state)
{
	struct pair *p = *state;
	struct tool_call k;
	const void *body;
	struct frame f;

	assert_int_equal(p->ops->write(&p->host, 1, "before", 6), 0);
	call(p, "a", 1);
	call(p, "b", 2);
	assert_int_equal(channel_recv(&p->core, 0, &f, &body, NULL),
			 REDOMA_E_BUSY);
	assert_int_equal(take(p, 1, NULL), 0);
	assert_int_equal(channel_recv(&p->core, 0, &f, &body, NULL), 0);
	assert_int_equal(f.kind, FRAME_OUT);
	for (uint32_t i = 1; i <= 2; i++) {
		assert_int_equal(channel_recv(&p->core, 0, &f, &body, NULL),
				 0);
		assert_int_equal(f.kind, FRAME_TOOL);
		assert_int_equal(tool_call_decode(body, f.len, &k, NULL), 0);
		assert_int_equal(k.id, i);
	}
}

static void no_more_than_may_be(void **state)
{
	struct pair *p = *state;
	uint32_t id = 5;

	call(p, "a", 1);
	call(p, "a", 2);
	call(p, "a", 3);
	assert_int_equal(p->ops->tool_call(&p->host, "a", 2, &id), EAGAIN);
	assert_int_equal(id, 5);
	give(p, 2, "two", 3);
	assert_int_equal(take(p, UINT64_MAX, "two"), 2);
	call(p, "a", 4);
}

static void answers_in_their_own_order(void **state)
{
	struct pair *p = *state;

	call(p, "a", 1);
	call(p, "a", 2);
	call(p, "a", 3);
	give(p, 3, "three", 5);
	give(p, 1, "", 0);
	assert_int_equal(take(p, UINT64_MAX, "three"), 3);
	assert_int_equal(take(p, UINT64_MAX, ""), 1);
	assert_int_equal(take(p, 0, NULL), 0);
	give(p, 2, "two", 3);
	assert_int_equal(take(p, UINT64_MAX, "two"), 2);
	/* Nothing is under way: it does not wait. */
	assert_int_equal(take(p, UINT64_MAX, NULL), 0);
}

/* Not taken, it is gone; a forged number is not taken. */
static void one_answer_at_a_time(void **state)
{
	struct pair *p = *state;
	uint32_t id, len;
	const void *got;

	call(p, "a", 1);
	call(p, "a", 2);
	assert_int_equal(p->ops->tool_take(&p->host, 1, &got, &len), ENOENT);
	give(p, 1, "one", 3);
	give(p, 2, "two", 3);
	assert_int_equal(p->ops->tool_wait(&p->host, UINT64_MAX, &id, &len),
			 0);
	assert_int_equal(p->ops->tool_take(&p->host, 2, &got, &len), ENOENT);
	assert_int_equal(take(p, UINT64_MAX, "two"), 2);
	assert_int_equal(p->ops->tool_take(&p->host, 1, &got, &len), ENOENT);
}

static void *give_big(void *data)
{
	struct pair *p = data;
	char *big = malloc(TOOL_TEXT_MAX);

	memset(big, 'b', TOOL_TEXT_MAX);
	give(p, 1, big, TOOL_TEXT_MAX);
	free(big);
	return NULL;
}

static void long_answers(void **state)
{
	struct pair *p = *state;
	uint32_t id, len;
	pthread_t t;

	call(p, "a", 1);
	assert_int_equal(pthread_create(&t, NULL, give_big, p), 0);
	assert_int_equal(host_rest(&p->host), 0);
	pthread_join(t, NULL);
	assert_int_equal(p->ops->tool_wait(&p->host, 0, &id, &len), 0);
	assert_int_equal(id, 1);
	assert_int_equal(len, TOOL_TEXT_MAX);
}

/* A question about a file in between is answered with what belongs to it. */
static void answers_meet_other_answers(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct pair *p = *state;
	struct wasi_stat st;

	call(p, "a", 1);
	call(p, "a", 2);
	give(p, 2, "two", 3);
	give(p, 1, "one", 3);
	assert_int_equal(answer_encode(&(struct answer){.st = {.size = 9}},
				       &b, NULL), 0);
	assert_int_equal(channel_send_fds(&p->core, FRAME_ANSWER, b.data,
					  b.len, NULL, 0, NULL), 0);
	assert_int_equal(p->ops->stat(&p->host, 0, "x", true, &st), 0);
	assert_int_equal(st.size, 9);
	assert_int_equal(take(p, 0, "two"), 2);
	assert_int_equal(take(p, 0, "one"), 1);
	assert_false(host_broke(&p->host));
}

static void on_alarm(int sig)
{
	(void)sig;
	stop = 1;
}

static uint64_t cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The deadline's signal ends a wait for ever, at once, and until then the wait
 * costs no CPU time. */
static void a_deadline_ends_the_wait(void **state)
{
	struct pair *p = *state;
	struct sigaction sa = {.sa_handler = on_alarm};
	struct itimerval it = {.it_value = {0, 300000}};
	uint64_t cpu = cpu_us(), from = clock_monotonic_us(), took;

	call(p, "a", 1);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	assert_int_equal(host_rest(&p->host), EINTR);
	took = clock_monotonic_us() - from;
	assert_true(took >= 300000 && took < 3000000);
	assert_true(cpu_us() - cpu < 50000);
	assert_false(host_broke(&p->host));
	/* Nor does it begin another. */
	assert_int_equal(host_rest(&p->host), EINTR);
}

static void a_core_that_is_gone(void **state)
{
	struct pair *p = *state;

	call(p, "a", 1);
	shutdown(p->core.fd, SHUT_RDWR);
	assert_int_equal(host_rest(&p->host), EPIPE);
	assert_true(host_broke(&p->host));
}

static void nonsense_breaks_it(void **state)
{
	struct pair *p = *state;

	call(p, "a", 1);
	give(p, 2, "two", 3); /* never called */
	assert_int_equal(host_rest(&p->host), EPIPE);
	assert_true(host_broke(&p->host));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_leave_together_after_the_text),
		TEST(no_more_than_may_be),
		TEST(answers_in_their_own_order),
		TEST(one_answer_at_a_time),
		TEST(long_answers),
		TEST(answers_meet_other_answers),
		TEST(a_deadline_ends_the_wait),
		TEST(a_core_that_is_gone),
		TEST(nonsense_breaks_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

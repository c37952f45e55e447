/* Calls of tools between a payload that lies and the core: what is passed on is
 * what an honest worker would send; answers come back whole. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/relay.h"
#include "wire/push.h"

#define BIG 300000

/* init between two ends that the test holds. */
struct scene {
	struct channel ours, core;
	struct boot boot;
	struct pump pump;
	struct relay relay;
	int boot_fd, payload, out, out_end, none;
};

static struct scene *begin(uint64_t in_flight)
{
	struct scene *s = calloc(1, sizeof *s);
	int a[2], b[2], p[2];

	assert_non_null(s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	channel_init(&s->ours, a[0]);
	channel_init(&s->core, a[1]);
	s->boot_fd = b[0];
	s->payload = b[1];
	s->out = p[0];
	s->out_end = p[1];
	s->none = -1;
	boot_init(&s->boot, &s->boot_fd);
	s->boot.asked = true;
	s->boot.call = relay_call;
	s->boot.call_data = &s->relay;
	s->pump = (struct pump){.channel = &s->ours, .out = &s->out,
				.err = &s->none, .in = &s->none, .left = 100};
	s->relay = (struct relay){.channel = &s->ours, .boot = &s->boot,
				  .pump = &s->pump, .in_flight = in_flight};
	return s;
}

static void shut(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void end(struct scene *s)
{
	shut(s->ours.fd);
	shut(s->core.fd);
	shut(s->boot_fd);
	shut(s->payload);
	shut(s->out);
	shut(s->out_end);
	channel_done(&s->ours);
	channel_done(&s->core);
	boot_done(&s->boot);
	relay_done(&s->relay);
	free(s);
}

static void say(struct scene *s, uint32_t kind, const void *p, uint32_t n)
{
	uint32_t head[2] = {kind, n};

	assert_int_equal(send(s->payload, head, sizeof head, 0), sizeof head);
	assert_int_equal(send(s->payload, p, n, 0), n);
	boot_drain(&s->boot);
}

static void call(struct scene *s, uint32_t id, const char *text, uint32_t n)
{
	char body[1024];

	memcpy(body, &id, sizeof id);
	memcpy(body + sizeof id, text, n);
	say(s, BOOT_CALL, body, n + sizeof id);
}

static void hears(struct scene *s, unsigned kind, const char *body, size_t n)
{
	struct frame f;
	const void *got;

	assert_int_equal(channel_recv(&s->core, 0, &f, &got, NULL), 0);
	assert_int_equal(f.kind, kind);
	assert_int_equal(f.len, n);
	assert_memory_equal(got, body, n);
}

static void hears_nothing(struct scene *s)
{
	struct frame f;
	const void *got;

	assert_int_equal(channel_recv(&s->core, 0, &f, &got, NULL),
			 REDOMA_E_BUSY);
}

static void answer(struct scene *s, uint32_t id, const void *p, size_t n)
{
	assert_int_equal(tool_put(&s->core, FRAME_RETURN, id, p, n, NULL), 0);
	assert_int_equal(channel_flush(&s->core, NULL, 0, NULL), 0);
}

static void gets(struct scene *s, uint32_t id, const void *p, size_t n)
{
	uint32_t head[3];

	assert_int_equal(recv(s->payload, head, sizeof head, MSG_WAITALL),
			 sizeof head);
	assert_int_equal(head[0], BOOT_ANSWER);
	assert_int_equal(head[1], n + sizeof id);
	assert_int_equal(head[2], id);
	for (size_t at = 0; at < n;) {
		char got[4096];
		size_t part = n - at < sizeof got ? n - at : sizeof got;
		ssize_t have = recv(s->payload, got, part, 0);

		assert_true(have > 0);
		assert_memory_equal(got, (const char *)p + at, (size_t)have);
		at += (size_t)have;
		boot_write(&s->boot);
	}
}

static void calls_and_answers(void **state)
{
	struct scene *s = begin(2);

	(void)state;
	assert_int_equal(write(s->out_end, "before", 6), 6);
	call(s, 1, "pay\0{}", 6);
	hears(s, FRAME_OUT, "before", 6);
	hears(s, FRAME_TOOL, "\1\0\0\0pay\0{}", 10);
	call(s, 2, "pay\0[]", 6);
	hears(s, FRAME_TOOL, "\2\0\0\0pay\0[]", 10);
	assert_int_equal(s->boot.state, BOOT_TALKS);
	answer(s, 2, "\0true", 5);
	answer(s, 1, "\1No\0no", 6);
	assert_true(relay_listens(&s->relay));
	assert_int_equal(relay_answers(&s->relay, NULL), 0);
	/* One at a time: the other is there when this one has left. */
	assert_int_equal(s->relay.under_way, 1);
	assert_false(relay_listens(&s->relay));
	boot_write(&s->boot);
	gets(s, 2, "\0true", 5);
	assert_true(relay_heard(&s->relay));
	assert_int_equal(relay_answers(&s->relay, NULL), 0);
	boot_write(&s->boot);
	gets(s, 1, "\1No\0no", 6);
	assert_int_equal(s->relay.under_way, 0);
	assert_int_equal(relay_answers(&s->relay, NULL), 0);
	call(s, 3, "pay\0{}", 6);
	hears(s, FRAME_TOOL, "\3\0\0\0pay\0{}", 10);
	end(s);
}

static void a_long_answer(void **state)
{
	struct scene *s = begin(1);
	char *big = malloc(BIG);

	(void)state;
	assert_non_null(big);
	memset(big, 'x', BIG);
	big[0] = '\0';
	call(s, 1, "t\0{}", 4);
	assert_int_equal(tool_put(&s->core, FRAME_RETURN, 1, big, BIG, NULL),
			 0);
	while (!boot_wants_out(&s->boot)) {
		assert_int_equal(channel_push(&s->core, NULL), 0);
		assert_int_equal(relay_answers(&s->relay, NULL), 0);
	}
	boot_write(&s->boot);
	gets(s, 1, big, BIG);
	assert_false(boot_wants_out(&s->boot));
	free(big);
	end(s);
}

static void lies_go_no_further(void **state)
{
	static const struct {
		uint32_t id;
		const char *text;
		uint32_t n;
	} rows[] = {
		{0, "t\0{}", 4}, {2, "t\0{}", 4}, {UINT32_MAX, "t\0{}", 4},
		{1, "", 0}, {1, "name", 4},
	};
	char name[TOOL_WORD_MAX + 3];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scene *s = begin(4);

		call(s, rows[i].id, rows[i].text, rows[i].n);
		assert_int_equal(s->boot.state, BOOT_BROKEN);
		assert_int_equal(s->relay.failed.code, 0);
		hears_nothing(s);
		end(s);
	}
	for (size_t more = 0; more < 2; more++) {
		struct scene *s = begin(4);

		memset(name, 'n', sizeof name);
		name[TOOL_WORD_MAX + more] = '\0';
		call(s, 1, name, sizeof name);
		assert_int_equal(s->boot.state,
				 more ? BOOT_BROKEN : BOOT_TALKS);
		end(s);
	}
}

static void no_more_than_may_be(void **state)
{
	struct scene *s = begin(2);

	(void)state;
	call(s, 1, "t\0{}", 4);
	call(s, 2, "t\0{}", 4);
	hears(s, FRAME_TOOL, "\1\0\0\0t\0{}", 8);
	hears(s, FRAME_TOOL, "\2\0\0\0t\0{}", 8);
	call(s, 3, "t\0{}", 4);
	assert_int_equal(s->boot.state, BOOT_BROKEN);
	hears_nothing(s);
	end(s);
}

/* Every length that none of ours sends. */
static void lengths(void **state)
{
	static const uint32_t lengths[] = {0, TOOL_CALL_MAX + 1, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct scene *s = begin(2);
		uint32_t head[2] = {BOOT_CALL, lengths[i]};

		assert_int_equal(send(s->payload, head, sizeof head, 0),
				 sizeof head);
		boot_drain(&s->boot);
		assert_int_equal(s->boot.state, BOOT_BROKEN);
		assert_int_equal(s->boot.call_bytes.len, 0);
		end(s);
	}
}

static void what_is_over_its_output_calls_nothing(void **state)
{
	struct scene *s = begin(2);
	char much[200];

	(void)state;
	memset(much, 'm', sizeof much);
	assert_int_equal(write(s->out_end, much, sizeof much), sizeof much);
	call(s, 1, "t\0{}", 4);
	hears(s, FRAME_OUT, much, 100);
	hears_nothing(s);
	assert_true(s->pump.over);
	end(s);
}

static void a_core_that_is_gone_or_odd(void **state)
{
	struct scene *s = begin(2);

	(void)state;
	answer(s, 1, "\0" "1", 2);
	assert_int_equal(relay_answers(&s->relay, NULL), REDOMA_E_WORKER);
	end(s);
	s = begin(2);
	assert_int_equal(channel_send(&s->core, FRAME_PLAN, FRAME_LAST, "x", 1,
				      NULL),
			 0);
	assert_int_equal(relay_answers(&s->relay, NULL), REDOMA_E_WORKER);
	end(s);
	s = begin(2);
	close(s->core.fd);
	s->core.fd = -1;
	call(s, 1, "t\0{}", 4);
	assert_int_equal(s->relay.failed.code, REDOMA_E_WORKER);
	end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_and_answers),
		cmocka_unit_test(a_long_answer),
		cmocka_unit_test(lies_go_no_further),
		cmocka_unit_test(no_more_than_may_be),
		cmocka_unit_test(lengths),
		cmocka_unit_test(what_is_over_its_output_calls_nothing),
		cmocka_unit_test(a_core_that_is_gone_or_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

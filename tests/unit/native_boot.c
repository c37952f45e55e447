/* The bootstrap's conversation with a payload that lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/boot.h"

struct talk {
	struct boot boot;
	int ours, theirs;
};

static void begin(struct talk *t, bool asked)
{
	int sv[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	t->ours = sv[0];
	t->theirs = sv[1];
	boot_init(&t->boot, &t->ours);
	t->boot.asked = asked;
	t->boot.value_max = 100000;
}

static void end(struct talk *t)
{
	boot_done(&t->boot);
	if (t->ours >= 0)
		close(t->ours);
	close(t->theirs);
}

static void say(struct talk *t, uint32_t kind, uint32_t len, const void *p,
		size_t n)
{
	uint32_t head[2] = {kind, len};

	assert_int_equal(send(t->theirs, head, sizeof head, 0), sizeof head);
	if (n)
		assert_int_equal(send(t->theirs, p, n, 0), (ssize_t)n);
}

static void a_run_comes_back(void **state)
{
	uint32_t code = 3;
	struct talk t;

	(void)state;
	begin(&t, false);
	say(&t, BOOT_READY, 0, NULL, 0);
	boot_read(&t.boot);
	assert_true(t.boot.ready);
	t.boot.asked = true;
	say(&t, BOOT_VALUE, 5, "[1,2]", 5);
	say(&t, BOOT_ERROR, 2, "{}", 2);
	say(&t, BOOT_EXIT, 4, &code, 4);
	boot_drain(&t.boot);
	assert_int_equal(t.boot.state, BOOT_ENDED);
	assert_int_equal(t.boot.exit_code, 3);
	assert_string_equal(t.boot.value.data, "[1,2]");
	assert_string_equal(t.boot.error.data, "{}");
	assert_int_equal(t.ours, -1);
	end(&t);
}

static void byte_by_byte(void **state)
{
	static const unsigned char bytes[] = {3, 0, 0, 0, 2, 0, 0, 0, '4',
					      '2', 5, 0, 0, 0, 4, 0, 0, 0,
					      7, 1, 0, 0};
	struct talk t;
	size_t i;

	(void)state;
	begin(&t, true);
	for (i = 0; i < sizeof bytes; i++) {
		assert_int_equal(t.boot.state, BOOT_TALKS);
		assert_int_equal(send(t.theirs, bytes + i, 1, 0), 1);
		boot_read(&t.boot);
	}
	assert_int_equal(t.boot.state, BOOT_ENDED);
	assert_int_equal(t.boot.exit_code, 263);
	assert_string_equal(t.boot.value.data, "42");
	end(&t);
}

static void lies(void **state)
{
	static const struct {
		uint32_t kind, len;
		bool asked;
		enum boot_state state;
	} rows[] = {
		{0, 0, true, BOOT_BROKEN},
		{BOOT_RUN, 0, true, BOOT_BROKEN},
		{BOOT_ANSWER, 0, true, BOOT_BROKEN},
		{BOOT_ANSWER + 1, 0, true, BOOT_BROKEN},
		/* No tool is granted. */
		{BOOT_CALL, 8, true, BOOT_BROKEN},
		{UINT32_MAX, UINT32_MAX, true, BOOT_BROKEN},
		{BOOT_READY, 1, true, BOOT_BROKEN},
		{BOOT_EXIT, 3, true, BOOT_BROKEN},
		{BOOT_EXIT, UINT32_MAX, true, BOOT_BROKEN},
		{BOOT_ERROR, BOOT_ERROR_MAX + 1, true, BOOT_BROKEN},
		{BOOT_VALUE, 100001, true, BOOT_OVER},
		{BOOT_VALUE, UINT32_MAX, true, BOOT_OVER},
		/* Before it was asked for anything. */
		{BOOT_VALUE, 1, false, BOOT_BROKEN},
		{BOOT_ERROR, 1, false, BOOT_BROKEN},
		{BOOT_EXIT, 4, false, BOOT_BROKEN},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct talk t;

		begin(&t, rows[i].asked);
		say(&t, rows[i].kind, rows[i].len, NULL, 0);
		boot_read(&t.boot);
		assert_int_equal(t.boot.state, rows[i].state);
		assert_int_equal(t.ours, -1);
		end(&t);
	}
}

static void twice_is_broken(void **state)
{
	static const uint32_t kinds[] = {BOOT_READY, BOOT_VALUE, BOOT_ERROR};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct talk t;

		begin(&t, true);
		say(&t, kinds[i], 0, NULL, 0);
		boot_read(&t.boot);
		assert_int_equal(t.boot.state, BOOT_TALKS);
		say(&t, kinds[i], 0, NULL, 0);
		boot_read(&t.boot);
		assert_int_equal(t.boot.state, BOOT_BROKEN);
		end(&t);
	}
}

static void cut_off(void **state)
{
	struct talk t;

	(void)state;
	begin(&t, true);
	say(&t, BOOT_VALUE, 100, "short", 5);
	shutdown(t.theirs, SHUT_WR);
	boot_drain(&t.boot);
	assert_int_equal(t.boot.state, BOOT_CLOSED);
	assert_false(t.boot.has_exit);
	end(&t);
}

static uint32_t word(const unsigned char **at)
{
	uint32_t v;

	memcpy(&v, *at, sizeof v);
	*at += sizeof v;
	return v;
}

static void part_is(const unsigned char **at, uint32_t tag, const char *text)
{
	uint32_t len;

	assert_int_equal(word(at), tag);
	len = word(at);
	assert_int_equal(len, strlen(text));
	assert_memory_equal(*at, text, len);
	*at += len;
}

static void run_is_put_together(void **state)
{
	char *argv[] = {(char *)"agent", (char *)"x", NULL};
	char *env[] = {(char *)"A=1", NULL};
	char *tools[] = {(char *)"pay", (char *)"ask", NULL};
	unsigned char got[256];
	const unsigned char *at = got;
	struct request q;
	struct talk t;
	ssize_t n;

	(void)state;
	begin(&t, false);
	request_init(&q);
	q.plan.argv = argv;
	q.plan.env = env;
	q.plan.tools = tools;
	q.plan.limits.in_flight = 0x01010107;
	assert_int_equal(buf_add(&q.source, "1+1", 3), 0);
	assert_int_equal(buf_add(&q.input, "null", 4), 0);
	assert_int_equal(boot_ask(&t.boot, &q, NULL), 0);
	assert_true(boot_wants_out(&t.boot));
	boot_write(&t.boot);
	assert_false(boot_wants_out(&t.boot));
	n = recv(t.theirs, got, sizeof got, 0);
	assert_true(n > 12);
	assert_int_equal(word(&at), BOOT_RUN);
	assert_int_equal(word(&at), n - 8);
	assert_int_equal(word(&at), 8);
	part_is(&at, BOOT_SOURCE, "1+1");
	part_is(&at, BOOT_INPUT, "null");
	part_is(&at, BOOT_ARG, "agent");
	part_is(&at, BOOT_ARG, "x");
	part_is(&at, BOOT_ENV, "A=1");
	part_is(&at, BOOT_TOOL, "pay");
	part_is(&at, BOOT_TOOL, "ask");
	part_is(&at, BOOT_IN_FLIGHT, "\7\1\1\1");
	assert_ptr_equal(at, got + n);
	end(&t);
}

/* Larger than the socket takes at once, read slowly. */
static void a_large_run(void **state)
{
	size_t size = (size_t)4 << 20, got = 0;
	char *big = malloc(size);
	struct request q;
	struct talk t;

	(void)state;
	begin(&t, false);
	assert_non_null(big);
	memset(big, 'x', size);
	request_init(&q);
	assert_int_equal(buf_add(&q.source, big, size), 0);
	assert_int_equal(boot_ask(&t.boot, &q, NULL), 0);
	while (boot_wants_out(&t.boot)) {
		boot_write(&t.boot);
		got += (size_t)recv(t.theirs, big, size, MSG_DONTWAIT);
	}
	/* Headers, and the word of what may be under way. */
	assert_int_equal(got, size + 32);
	free(big);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_comes_back),
		cmocka_unit_test(byte_by_byte),
		cmocka_unit_test(lies),
		cmocka_unit_test(twice_is_broken),
		cmocka_unit_test(cut_off),
		cmocka_unit_test(run_is_put_together),
		cmocka_unit_test(a_large_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A payload begins when init says so, and not when it has its order. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/native_state.h"
#include "native/payload.h"

#define LOOK_MS 300 /* far more than a shell needs to begin */
#define WAIT_MS 20000

static char *argv[] = {(char *)"sh", (char *)"-c", (char *)"echo on", NULL};
static char *env[] = {NULL};

/* Walls are not needed to see when it begins. */
static struct native no_walls = {.j = {.lacks = ~0u}};

static bool says_something(const struct payload *p, int wait_ms)
{
	struct pollfd f = {.fd = p->out, .events = POLLIN};

	return poll(&f, 1, wait_ms) == 1 && f.revents & POLLIN;
}

static void begins_when_it_is_released(void **state)
{
	struct payload_start s = {.jail = &no_walls,
				  .program = "/bin/sh",
				  .argv = argv,
				  .env = env,
				  .file_bytes = 1 << 20,
				  .max_fds = 512,
				  .cpu_s = 60};
	struct payload p = PAYLOAD_NONE;
	char text[8] = "";

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(payload_fork(&s, &p, NULL), 0);
	assert_false(says_something(&p, LOOK_MS));
	assert_int_equal(payload_order(&s, &p, NULL), 0);
	assert_false(says_something(&p, LOOK_MS));
	assert_int_equal(payload_release(&p, NULL), 0);
	assert_true(says_something(&p, WAIT_MS));
	assert_int_equal(read(p.out, text, sizeof text - 1), 3);
	assert_string_equal(text, "on\n");
	for (int i = 0; i < WAIT_MS / 10 && !p.dead; i++) {
		payload_reap(&p);
		usleep(10000);
	}
	assert_true(p.dead);
	payload_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_when_it_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A fresh instance holds nothing of the one before it, however that ended, and
 * also in a process that was forked behind the engine's back. */
#include "engine_fixture.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/reset.h"

#define LIMIT (32 * MIB)
#define IMAGE_BYTES 300000
#define PATH 4096

/* fill: grows to 24 MiB and writes 0xA5 into all of it, sets the global; then
 * it returns, aborts, loops for ever or recurses, by its name. */
static void build_filler(struct wasm *m)
{
	/* i32.const 320; memory.grow 0; drop; i32.const 0; i32.const 0xa5;
	 * memory.size; i32.const 65536; i32.mul; memory.fill 0;
	 * i32.const 77; global.set 0 */
#define FILL                                                                   \
	0x41, 0xc0, 2, 0x40, 0, 0x1a, 0x41, 0, 0x41, 0xa5, 1, 0x3f, 0, 0x41,   \
		0x80, 0x80, 4, 0x6c, 0xfc, 11, 0, 0x41, 0xcd, 0, 0x24, 0
	static uint8_t image[IMAGE_BYTES];
	uint32_t plain = wasm_type(m, "", "");

	wasm_func(m, plain, "", CODE(0x10, 0)); /* calls itself */
	for (size_t i = 0; i < sizeof(image); i++)
		image[i] = (uint8_t)(i * 7 + i / 251 + 1);
	wasm_memory(m, 64, 512);
	wasm_export(m, "memory", 2, 0);
	wasm_export(m, "global", 3, wasm_global_i32(m, 5));
	wasm_export(m, "fill", 0, wasm_func(m, plain, "", CODE(FILL)));
	wasm_export(m, "fill_abort", 0,
		    wasm_func(m, plain, "", CODE(FILL, 0x00)));
	wasm_export(m, "fill_spin", 0,
		    wasm_func(m, plain, "",
			      CODE(FILL, 0x03, 0x40, 0x0c, 0, 0x0b)));
	wasm_export(m, "fill_recurse", 0,
		    wasm_func(m, plain, "", CODE(FILL, 0x10, 0)));
	/* scattered: one byte in every 16th page up to 4 MiB (64 regions) */
	wasm_export(m, "scatter", 0,
		    wasm_func(m, plain, "i",
			      CODE(0x03, 0x40, 0x20, 0, 0x41, 0x5a, 0x3a, 0, 0,
				   0x20, 0, 0x41, 0x80, 0x80, 4, 0x6a, 0x22, 0,
				   0x41, 0x80, 0x80, 0x80, 2, 0x49, 0x0d, 0,
				   0x0b)));
	wasm_data(m, 1000, image, sizeof(image));
}

static uint64_t wrong_after(struct jar *j, struct reset *r)
{
	uint64_t wrong = UINT64_MAX;

	must(j, reset_verify(j->x, r, &wrong, &j->err));
	exec_reset(j->x);
	return wrong;
}

static void poison(enum profile p, const char *swaps)
{
	static const char *const names[] = {"fill",	    "fill_abort",
					    "fill_spin",    "fill_recurse",
					    "scatter",	    "fill_abort",
					    "scatter",	    "fill"};
	bool fuel = p == PROFILE_IMAGE_FUEL || p == PROFILE_MODULE_FUEL;
	uint64_t limit = fuel ? 300u << 20 : 0;
	struct reset *r = NULL;
	struct wasm m = {0};
	struct jar j;

	build_filler(&m);
	jar_open_with(&j, p, &m, NULL, swaps);
	jar_begin(&j, LIMIT, limit);
	must(&j, reset_remember(j.x, &r, &j.err));
	assert_int_equal(wrong_after(&j, r), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CLEANUP(buf_done) struct buf v = {0};

		if (!fuel && !strcmp(names[i], "fill_spin"))
			continue;
		jar_begin(&j, LIMIT, limit);
		jar_call(&j, names[i], &v);
		if (strstr(names[i], "fill"))
			assert_true(j.out.memory_bytes >= 24 * MIB);
		assert_int_equal(wrong_after(&j, r), 0);
	}
	reset_free(r);
	jar_close(&j);
}

static void poisoned_memory_is_clean_again(void **state)
{
	(void)state;
	for (int p = 0; p < PROFILES; p++)
		poison((enum profile)p, "/proc/swaps");
}

#define SWAPS_HEADER "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
#define SWAPS_LINE "/swapfile file\t\t1048572\t\t0\t\t-2\n"

/* A file that takes the place of /proc/swaps. */
static void write_swaps(char path[PATH], const char *text)
{
	const char *tmp = getenv("TMPDIR");
	size_t len = strlen(text);
	int fd;

	snprintf(path, PATH, "%s/swaps-XXXXXX", tmp ? tmp : ".");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
}

static bool is_fast(const char *swaps)
{
	struct engine *e;
	bool fast;

	assert_int_equal(engine_new_with(PROFILE_MODULE, swaps, &e, NULL), 0);
	fast = engine_fast_reset(e);
	engine_free(e);
	return fast;
}

static void swap_turns_the_fast_way_off(void **state)
{
	static const struct {
		const char *text;
		bool off;
	} rows[] = {
		{SWAPS_HEADER, true},
		{SWAPS_HEADER SWAPS_LINE, false},
		{SWAPS_HEADER SWAPS_LINE SWAPS_LINE, false},
		{SWAPS_HEADER "x", false},
		{"", false},
		{"Filename", false}, /* cut */
	};
	char path[PATH];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		write_swaps(path, rows[i].text);
		if (is_fast(path) != (rows[i].off && rd_pagemap_available()))
			fail_msg("row %zu", i);
		unlink(path);
	}
	assert_false(is_fast("/nonexistent/swaps"));
}

/* Also where the kernel has the fast way. */
static void the_slow_way_is_clean_too(void **state)
{
	char path[PATH];

	(void)state;
	write_swaps(path, SWAPS_HEADER SWAPS_LINE);
	assert_false(is_fast(path));
	for (int p = 0; p < PROFILES; p++)
		poison((enum profile)p, path);
	unlink(path);
}

/* Verify must be able to fail: what the host wrote is found. */
static void verify_finds_what_is_different(void **state)
{
	struct reset *r = NULL;
	struct wasm m = {0};
	struct jar j;
	uint64_t wrong = 0;
	size_t size;

	(void)state;
	build_filler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, LIMIT, 0);
	exec_memory(j.x, &size)[2000] ^= 1;
	exec_memory(j.x, &size)[900000] ^= 1;
	must(&j, reset_remember(j.x, &r, &j.err));
	must(&j, reset_verify(j.x, r, &wrong, &j.err));
	assert_int_equal(wrong, 2);
	reset_free(r);
	jar_close(&j);
}

/* Exported globals and tables of every type are read without harm. */
static void odd_exports_are_compared(void **state)
{
	struct reset *r = NULL;
	struct wasm m = {0};
	struct jar j;
	uint64_t wrong = 1;

	(void)state;
	wasm_memory(&m, 1, -1);
	wasm_table(&m, 3, 9);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "table", 1, 0);
	wasm_put(&m.body[6], "\x7b\1\xfd\x0c" "0123456789abcdef\x0b", 21);
	wasm_put(&m.body[6], "\x70\1\xd0\x70\x0b", 5);
	wasm_put(&m.body[6], "\x6f\1\xd0\x6f\x0b", 5);
	wasm_put(&m.body[6], "\x69\1\xd0\x69\x0b", 5);
	m.count[6] = 4;
	for (uint32_t i = 0; i < 4; i++) {
		char name[] = {(char)('a' + i), 0};

		wasm_export(&m, name, 3, i);
	}
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, LIMIT, 0);
	must(&j, reset_remember(j.x, &r, &j.err));
	must(&j, reset_verify(j.x, r, &wrong, &j.err));
	assert_int_equal(wrong, 0);
	reset_free(r);
	jar_close(&j);
}

static int renew(int old)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : dup3(fd, old, O_CLOEXEC);
}

/* In a child made without libc: dirty an instance, reset, verify. */
static int child_verdict(struct jar *j, struct reset *r, bool renewed)
{
	struct exec_limits l = {.memory_bytes = LIMIT};
	uint64_t wrong = 0;

	if (renewed && renew(engine_pagemap_fd(j->e)) < 0)
		return 99;
	for (int i = 0; i < 2; i++) {
		CLEANUP(buf_done) struct buf v = {0};
		const char *const none[] = {NULL};

		if (exec_begin(j->x, &l, &j->out, &j->err) ||
		    exec_invoke(j->x, "fill", none, &j->out, &v, &j->err) ||
		    j->out.end != EXEC_DONE ||
		    reset_verify(j->x, r, &wrong, &j->err))
			return 98;
		exec_reset(j->x);
		if (wrong)
			return 1;
	}
	return 0;
}

static int fork_verdict(struct jar *j, struct reset *r, bool renewed)
{
	struct clone_args a = {.exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &a, sizeof(a));
	int status = 0;

	if (pid == 0)
		_exit(child_verdict(j, r, renewed));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_raw_child_must_renew_the_pagemap(void **state)
{
	struct reset *r = NULL;
	struct wasm m = {0};
	struct jar j;

	(void)state;
	build_filler(&m);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	if (!engine_fast_reset(j.e)) {
		jar_close(&j);
		skip();
	}
	assert_true(engine_pagemap_fd(j.e) > 2);
	jar_begin(&j, LIMIT, 0);
	must(&j, reset_remember(j.x, &r, &j.err));
	exec_reset(j.x);
	assert_int_equal(fork_verdict(&j, r, true), 0);
	/* The control: with its parent's descriptor the leak is there. */
	assert_int_equal(fork_verdict(&j, r, false), 1);
	reset_free(r);
	jar_close(&j);
}

static void the_slow_way_needs_no_pagemap(void **state)
{
	struct reset *r = NULL;
	struct wasm m = {0};
	char path[PATH];
	struct jar j;

	(void)state;
	build_filler(&m);
	write_swaps(path, SWAPS_HEADER SWAPS_LINE);
	jar_open_with(&j, PROFILE_MODULE, &m, NULL, path);
	unlink(path);
	jar_begin(&j, LIMIT, 0);
	must(&j, reset_remember(j.x, &r, &j.err));
	exec_reset(j.x);
	assert_int_equal(fork_verdict(&j, r, false), 0);
	reset_free(r);
	jar_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poisoned_memory_is_clean_again),
		cmocka_unit_test(verify_finds_what_is_different),
		cmocka_unit_test(odd_exports_are_compared),
		cmocka_unit_test(a_raw_child_must_renew_the_pagemap),
		cmocka_unit_test(swap_turns_the_fast_way_off),
		cmocka_unit_test(the_slow_way_is_clean_too),
		cmocka_unit_test(the_slow_way_needs_no_pagemap),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

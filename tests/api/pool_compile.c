/* The compiler process, the real one: what it makes, what it refuses, and that
 * it ends at its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "pool/compile.h"
#include "../unit/wasm_build.h"

#define PROGRAM TEST_BUILD "/redoma-compile"

static int compile(const void *p, size_t n, int *fd, struct redoma_error *err)
{
	struct compile_options o = {.program = PROGRAM,
				    .may_lack = 1u << 12}; /* a cgroup */
	CLEANUP_FD int in = fd_sealed("module", p, n);
	struct compile_report r;

	assert_true(in >= 0);
	return compile_module(&o, in, fd, &r, err);
}

static int compile_wasm(struct wasm *m, int *fd, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	wasm_finish(m, &b);
	return compile(b.data, b.len, fd, err);
}

static void an_artefact_comes_back_sealed(void **state)
{
	struct redoma_error err = {0};
	CLEANUP_FD int fd = -1;
	struct wasm m = {0};
	struct stat st;
	char head[4];

	(void)state;
	wasm_memory(&m, 1, -1);
	if (compile_wasm(&m, &fd, &err))
		print_error("%s\n", err.text);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size > 4096);
	assert_int_equal(read(fd, head, 4), 4);
	assert_memory_equal(head, "\x7f" "ELF", 4);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fcntl(fd, F_GET_SEALS) & F_SEAL_SEAL, F_SEAL_SEAL);
}

static void nobody_is_left_to_reap(void **state)
{
	struct wasm m = {0};
	int fd = -1;

	(void)state;
	assert_int_equal(compile_wasm(&m, &fd, NULL), 0);
	close(fd);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void what_is_no_module_is_refused(void **state)
{
	struct redoma_error err = {0};
	int fd = -1;

	(void)state;
	assert_int_equal(compile("hello", 5, &fd, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "not WebAssembly"));
	assert_int_equal(compile("\0asm\x0d\0\1\0", 8, &fd, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "component"));
	assert_int_equal(compile("", 0, &fd, &err), REDOMA_E_INVALID);
	assert_int_equal(fd, -1);
}

/* Nested blocks that each leave a value: 320 KB of them need gigabytes. */
static void nested_values(struct wasm *m, unsigned n)
{
	CLEANUP(buf_done) struct buf b = {0};

	for (unsigned i = 0; i < n; i++)
		wasm_put(&b, "\2\x7f\x20\0\x20\0\x0d\0", 8);
	for (unsigned i = 0; i < n; i++)
		wasm_put(&b, "\x20\0\x6a\x0b\x21\0\x20\0", 8);
	wasm_func(m, wasm_type(m, "i", "i"), "", (uint8_t *)b.data, b.len);
}

/* Nested loops: 240 KB of them compile for minutes. */
static void nested_loops(struct wasm *m, unsigned n)
{
	CLEANUP(buf_done) struct buf b = {0};

	for (unsigned i = 0; i < n; i++)
		wasm_put(&b, "\3\x40\x20\0\x41\1\x6a\x22\0\x0d\0", 11);
	for (unsigned i = 0; i < n; i++)
		wasm_byte(&b, 0x0b);
	wasm_put(&b, "\x20\0", 2);
	wasm_func(m, wasm_type(m, "i", "i"), "", (uint8_t *)b.data, b.len);
}

static void a_memory_bomb_ends(void **state)
{
	struct redoma_error err = {0};
	struct wasm m = {0};
	int fd = -1;

	(void)state;
	nested_values(&m, 20000);
	assert_int_equal(compile_wasm(&m, &fd, &err), REDOMA_E_INVALID);
	if (!strstr(err.text, "out of memory"))
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, "out of memory"));
	assert_int_equal(fd, -1);
}

static void a_time_bomb_ends(void **state)
{
	uint64_t from = clock_monotonic_us(), took;
	struct redoma_error err = {0};
	struct wasm m = {0};
	int fd = -1;

	(void)state;
	nested_loops(&m, 45000);
	assert_int_equal(compile_wasm(&m, &fd, &err), REDOMA_E_INVALID);
	took = clock_monotonic_us() - from;
	if (!strstr(err.text, "more than 10 seconds") || took < 9000000 ||
	    took > 13000000)
		fail_msg("after %llu us: %s", (unsigned long long)took,
			 err.text);
	assert_int_equal(fd, -1);
}

/* 100 branch tables of 10,000 targets each. */
static void branch_tables_are_no_bomb(void **state)
{
	struct redoma_error err = {0};
	struct wasm m = {0};
	uint32_t t = wasm_type(&m, "i", "i");
	CLEANUP_FD int fd = -1;

	(void)state;
	for (int f = 0; f < 100; f++) {
		CLEANUP(buf_done) struct buf b = {0};

		wasm_put(&b, "\2\x40\2\x40\x20\0\x0e", 7);
		wasm_leb(&b, 10000);
		for (int i = 0; i <= 10000; i++)
			wasm_byte(&b, (unsigned)i % 2);
		wasm_put(&b, "\x0b\x0b\x20\0", 4);
		wasm_func(&m, t, "", (uint8_t *)b.data, b.len);
	}
	assert_int_equal(compile_wasm(&m, &fd, &err), 0);
}

static void a_missing_compiler_is_our_error(void **state)
{
	struct compile_options o = {.program = TEST_BUILD "/no-such-program"};
	CLEANUP_FD int in = fd_sealed("module", "x", 1);
	struct redoma_error err;
	int fd = -1;

	(void)state;
	assert_int_equal(compile_module(&o, in, &fd, NULL, &err),
			 REDOMA_E_SYSTEM);
	o.program = "/bin/true";
	assert_int_equal(compile_module(&o, in, &fd, NULL, &err),
			 REDOMA_E_WORKER);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_artefact_comes_back_sealed),
		cmocka_unit_test(nobody_is_left_to_reap),
		cmocka_unit_test(what_is_no_module_is_refused),
		cmocka_unit_test(a_memory_bomb_ends),
		cmocka_unit_test(a_time_bomb_ends),
		cmocka_unit_test(branch_tables_are_no_bomb),
		cmocka_unit_test(a_missing_compiler_is_our_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

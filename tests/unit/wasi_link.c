/* The 45 functions in a real engine: types, memory, traps. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "wasi/calls.h"
#include "wasm_build.h"

#define MODULE "wasi_snapshot_preview1"

struct run {
	wasm_engine_t *engine;
	wasmtime_linker_t *linker;
	wasmtime_store_t *store;
	struct wasi *w;
	struct buf out;
	volatile sig_atomic_t stop;
	struct plan plan;
	struct wasi_host host;
	struct wasi_report report;
};

static int keep(void *data, int stream, const void *p, size_t n)
{
	struct run *r = data;

	(void)stream;
	return buf_add(&r->out, p, n) ? ENOMEM : 0;
}

static void setup(struct run *r)
{
	memset(r, 0, sizeof(*r));
	r->engine = wasm_engine_new();
	r->linker = wasmtime_linker_new(r->engine);
	r->store = wasmtime_store_new(r->engine, NULL, NULL);
	r->plan.limits.files = 16;
	r->host = (struct wasi_host){.data = r, .write = keep};
	assert_int_equal(wasi_new(&r->stop, &r->w, NULL), 0);
	assert_int_equal(wasi_link(r->w, r->linker, NULL), 0);
	assert_int_equal(wasi_begin(r->w, &r->plan, &r->host, NULL, 0, NULL),
			 0);
}

static void teardown(struct run *r)
{
	wasi_end(r->w, &r->report);
	wasmtime_store_delete(r->store);
	wasmtime_linker_delete(r->linker);
	wasm_engine_delete(r->engine);
	wasi_free(r->w);
	buf_done(&r->out);
}

/* Instantiates; a start function's trap is returned. */
static wasm_trap_t *instantiate(struct run *r, struct wasm *m,
				wasmtime_instance_t *ret)
{
	wasmtime_context_t *ctx = wasmtime_store_context(r->store);
	wasmtime_module_t *module = NULL;
	struct buf bytes = {0};
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *bad;

	wasm_finish(m, &bytes);
	bad = wasmtime_module_new(r->engine, (uint8_t *)bytes.data, bytes.len,
				  &module);
	assert_null(bad);
	bad = wasmtime_linker_instantiate(r->linker, ctx, module, ret, &trap);
	assert_null(bad);
	wasmtime_module_delete(module);
	buf_done(&bytes);
	return trap;
}

/* Calls _start and says whether a host function ended it: an engine without
 * backtraces gives what wasmtime_trap_new made back as an error. */
static bool was_ended(struct run *r, wasmtime_instance_t *i, const char *why)
{
	const char *name = "_start";
	wasmtime_context_t *ctx = wasmtime_store_context(r->store);
	wasm_trap_t *trap = NULL;
	wasmtime_extern_t f;
	wasmtime_error_t *bad;

	assert_true(wasmtime_instance_export_get(ctx, i, name, strlen(name),
						 &f));
	bad = wasmtime_func_call(ctx, &f.of.func, NULL, 0, NULL, 0, &trap);
	wasm_message_t text = {0};
	if (bad)
		wasmtime_error_message(bad, &text);
	else if (trap)
		wasm_trap_message(trap, &text);
	bool ended = text.size && memmem(text.data, text.size, why,
					 strlen(why));
	wasm_byte_vec_delete(&text);
	if (bad)
		wasmtime_error_delete(bad);
	if (trap)
		wasm_trap_delete(trap);
	return ended;
}

/* A module that imports all functions with the types of the witx. */
static void all_types_fit(void **state)
{
	wasmtime_instance_t instance;
	struct wasm m = {0};
	struct run r;

	(void)state;
	setup(&r);
	for (size_t i = 0; i < WASI_CALLS; i++)
		wasm_import(&m, MODULE, call_rows[i].name,
			    wasm_type(&m, call_rows[i].params,
				      call_rows[i].has_result ? "i" : ""));
	assert_null(instantiate(&r, &m, &instance));
	teardown(&r);
}

/* fd_write(1, 8, 1, 0), then proc_exit(result + 7), and never on. */
static void print_and_exit(struct wasm *m, bool export)
{
	uint32_t write = wasm_import(m, MODULE, "fd_write",
				     wasm_type(m, "iiii", "i"));
	uint32_t exit = wasm_import(m, MODULE, "proc_exit",
				    wasm_type(m, "i", ""));
	const uint8_t code[] = {
		0x41, 1, 0x41, 8, 0x41, 1, 0x41, 0, 0x10, (uint8_t)write,
		0x41, 7, 0x6a, 0x10, (uint8_t)exit, 0x00,
	};
	uint32_t f = wasm_func(m, wasm_type(m, "", ""), "", code, sizeof(code));

	wasm_memory(m, 1, 1);
	wasm_data(m, 8, "\x10\0\0\0\5\0\0\0hello", 13);
	if (export)
		wasm_export(m, "memory", 2, 0);
	wasm_export(m, "_start", 0, f);
	m->start = 0;
}

static void output_and_exit(void **state)
{
	for (int bound = 0; bound < 2; bound++) {
		wasmtime_instance_t instance;
		wasmtime_extern_t memory;
		wasmtime_context_t *ctx;
		struct wasm m = {0};
		struct run r;

		(void)state;
		setup(&r);
		print_and_exit(&m, true);
		assert_null(instantiate(&r, &m, &instance));
		ctx = wasmtime_store_context(r.store);
		assert_true(wasmtime_instance_export_get(ctx, &instance,
							 "memory", 6, &memory));
		if (bound)
			wasi_bind(r.w, ctx, &memory.of.memory);
		assert_true(was_ended(&r, &instance, "exit"));
		wasi_end(r.w, &r.report);
		assert_int_equal(r.report.end, WASI_END_EXIT);
		assert_int_equal(r.report.exit_code, 7);
		assert_string_equal(r.out.data, "hello");
		teardown(&r);
	}
}

/* A module that does not export its memory has none for us. */
static void memory_that_is_not_exported(void **state)
{
	wasmtime_instance_t instance;
	struct wasm m = {0};
	struct run r;

	(void)state;
	setup(&r);
	print_and_exit(&m, false);
	assert_null(instantiate(&r, &m, &instance));
	assert_true(was_ended(&r, &instance, "exit"));
	wasi_end(r.w, &r.report);
	assert_int_equal(r.report.exit_code, 7 + W_FAULT);
	assert_int_equal(r.out.len, 0);
	teardown(&r);
}

/* With *stop set no call does anything any more, but what was printed goes
 * out. */
static void deadline_ends_every_call(void **state)
{
	wasmtime_instance_t instance;
	struct wasm m = {0};
	struct run r;

	(void)state;
	setup(&r);
	print_and_exit(&m, true);
	assert_null(instantiate(&r, &m, &instance));
	r.stop = 1;
	assert_true(was_ended(&r, &instance, "deadline"));
	wasi_end(r.w, &r.report);
	assert_int_equal(r.report.end, WASI_END_STOP);
	assert_string_equal(r.out.data, "hello");
	teardown(&r);
}

/* Memory that grows between two calls is seen as it is then. */
static void memory_grows(void **state)
{
	wasmtime_instance_t instance;
	wasmtime_extern_t memory;
	wasmtime_context_t *ctx;
	struct wasm m = {0};
	struct run r;

	(void)state;
	setup(&r);
	uint32_t random = wasm_import(&m, MODULE, "random_get",
				      wasm_type(&m, "ii", "i"));
	uint32_t exit = wasm_import(&m, MODULE, "proc_exit",
				    wasm_type(&m, "i", ""));
	/* random_get(65536, 8) is a fault; memory.grow 1; then it is not. */
	const uint8_t code[] = {
		0x41, 0x80, 0x80, 0x04, 0x41, 8, 0x10, (uint8_t)random,
		0x41, 1, 0x40, 0, 0x1a,
		0x41, 0x80, 0x80, 0x04, 0x41, 8, 0x10, (uint8_t)random,
		0x41, 10, 0x6c, 0x6a, 0x10, (uint8_t)exit,
	};
	uint32_t f = wasm_func(&m, wasm_type(&m, "", ""), "", code,
			       sizeof(code));

	wasm_memory(&m, 1, 2);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "_start", 0, f);
	assert_null(instantiate(&r, &m, &instance));
	ctx = wasmtime_store_context(r.store);
	assert_true(wasmtime_instance_export_get(ctx, &instance, "memory", 6,
						 &memory));
	wasi_bind(r.w, ctx, &memory.of.memory);
	assert_true(was_ended(&r, &instance, "exit"));
	wasi_end(r.w, &r.report);
	assert_int_equal(r.report.exit_code, W_FAULT);
	teardown(&r);
}

/* Calls outside of a run trap: there is no plan. */
static void no_run_no_call(void **state)
{
	wasmtime_instance_t instance;
	struct wasm m = {0};
	struct run r;

	(void)state;
	setup(&r);
	print_and_exit(&m, true);
	assert_null(instantiate(&r, &m, &instance));
	wasi_end(r.w, &r.report);
	assert_true(was_ended(&r, &instance, "lost the core"));
	assert_int_equal(r.out.len, 0);
	teardown(&r);
}

static void linking_twice_is_an_error(void **state)
{
	struct redoma_error err;
	struct run r;

	(void)state;
	setup(&r);
	assert_int_equal(wasi_link(r.w, r.linker, &err), REDOMA_E_SYSTEM);
	teardown(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_types_fit),
		cmocka_unit_test(output_and_exit),
		cmocka_unit_test(memory_that_is_not_exported),
		cmocka_unit_test(deadline_ends_every_call),
		cmocka_unit_test(memory_grows),
		cmocka_unit_test(no_run_no_call),
		cmocka_unit_test(linking_twice_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The knobs of redoma_engine.h, on Wasmtime alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <redoma_engine.h>
#include "base/buf.h"
#include "base/cleanup.h"

#define PAGE 65536u

/* (module (memory (export "m") 1 MAX) (table (export "t") 2 9 funcref)) */
static const uint8_t module_bytes[] = {
	0, 'a', 's', 'm', 1, 0, 0, 0,
	4, 5, 1, 0x70, 1, 2, 9,
	5, 4, 1, 1, 1, 5,
	7, 9, 2, 1, 'm', 2, 0, 1, 't', 1, 0,
};

struct jar {
	wasm_engine_t *engine;
	wasmtime_module_t *module;
	wasmtime_store_t *store;
	wasmtime_memory_t memory;
	wasmtime_table_t table;
};

static wasmtime_module_t *precompiled(wasm_engine_t *e)
{
	wasm_byte_vec_t artefact = {0};
	wasmtime_module_t *m = NULL;

	assert_null(rd_precompile(e, module_bytes, sizeof(module_bytes),
				  &artefact));
	assert_null(wasmtime_module_deserialize(
		e, (uint8_t *)artefact.data, artefact.size, &m));
	wasm_byte_vec_delete(&artefact);
	return m;
}

/* False: the limits do not let the module be instantiated. */
static bool jar_open(struct jar *j, struct rd_limiter *l)
{
	wasmtime_extern_t item;
	wasmtime_instance_t instance;
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;

	j->engine = wasm_engine_new();
	j->module = precompiled(j->engine);
	j->store = wasmtime_store_new(j->engine, NULL, NULL);
	rd_store_limiter(j->store, l);
	wasmtime_context_t *ctx = wasmtime_store_context(j->store);
	error = wasmtime_instance_new(ctx, j->module, NULL, 0, &instance,
				      &trap);
	if (error) {
		wasmtime_error_delete(error);
		return false;
	}
	assert_true(wasmtime_instance_export_get(ctx, &instance, "m", 1,
						 &item));
	j->memory = item.of.memory;
	assert_true(wasmtime_instance_export_get(ctx, &instance, "t", 1,
						 &item));
	j->table = item.of.table;
	return true;
}

static void jar_close(struct jar *j)
{
	wasmtime_store_delete(j->store);
	wasmtime_module_delete(j->module);
	wasm_engine_delete(j->engine);
}

static bool grow_memory(struct jar *j, uint64_t pages)
{
	uint64_t before;
	wasmtime_error_t *error = wasmtime_memory_grow(
		wasmtime_store_context(j->store), &j->memory, pages, &before);

	if (error)
		wasmtime_error_delete(error);
	return !error;
}

static bool grow_table(struct jar *j, uint32_t n)
{
	uint64_t before;
	wasmtime_val_t none = {.kind = WASMTIME_FUNCREF};
	wasmtime_error_t *error = wasmtime_table_grow(
		wasmtime_store_context(j->store), &j->table, n, &none, &before);

	if (error)
		wasmtime_error_delete(error);
	return !error;
}

static struct rd_limiter limits(uint64_t memory_bytes, uint64_t elements)
{
	return (struct rd_limiter){.memory_bytes = memory_bytes,
				   .table_elements = elements,
				   .instances = 1,
				   .tables = 1,
				   .memories = 1};
}

static void memory_is_counted(void **state)
{
	struct rd_limiter l = limits(3 * PAGE, 100);
	CLEANUP(jar_close) struct jar j = {0};

	(void)state;
	assert_true(jar_open(&j, &l));
	assert_int_equal(l.memory_now, PAGE);
	assert_true(grow_memory(&j, 2));
	assert_false(grow_memory(&j, 1));
	assert_true(grow_memory(&j, 0));
	assert_int_equal(l.memory_denied, 1);
	assert_int_equal(l.memory_now, 3 * PAGE);
	assert_int_equal(l.memory_peak, 3 * PAGE);
}

/* A growth over what the module declared fails, is no denial, and is not
 * counted as grown. */
static void the_modules_own_maximum(void **state)
{
	struct rd_limiter l = limits(100 * PAGE, 100);
	CLEANUP(jar_close) struct jar j = {0};

	(void)state;
	assert_true(jar_open(&j, &l));
	for (int i = 0; i < 5; i++)
		assert_false(grow_memory(&j, 50));
	assert_int_equal(l.memory_denied, 0);
	assert_int_equal(l.memory_now, PAGE);
	assert_true(grow_memory(&j, 4));
	assert_int_equal(l.memory_now, 5 * PAGE);
}

static void tables_are_counted(void **state)
{
	struct rd_limiter l = limits(3 * PAGE, 5);
	CLEANUP(jar_close) struct jar j = {0};

	(void)state;
	assert_true(jar_open(&j, &l));
	assert_int_equal(l.table_now, 2);
	assert_true(grow_table(&j, 3));
	assert_false(grow_table(&j, 1));
	assert_int_equal(l.table_denied, 1);
	assert_int_equal(l.table_now, 5);
}

static void instantiation_is_under_the_limits(void **state)
{
	struct rd_limiter rows[] = {
		limits(PAGE - 1, 100),
		limits(3 * PAGE, 1),
		limits(3 * PAGE, 100),
		limits(3 * PAGE, 100),
		limits(3 * PAGE, 100),
	};

	(void)state;
	rows[2].instances = 0;
	rows[3].tables = 0;
	rows[4].memories = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP(jar_close) struct jar j = {0};

		assert_false(jar_open(&j, &rows[i]));
	}
	assert_int_equal(rows[0].memory_denied, 1);
	assert_int_equal(rows[1].table_denied, 1);
}

static void features_go_by_name(void **state)
{
	wasm_config_t *c = wasm_config_new();

	(void)state;
	assert_true(rd_config_feature(c, "extended-const", false));
	assert_false(rd_config_feature(c, "no-such-thing", false));
	assert_false(rd_config_feature(c, "", false));
	assert_int_equal(rd_feature_bits("no-such-thing"), 0);
	assert_int_equal(rd_feature_bits("mutable-global"), 1);
	assert_true(rd_features_known() & rd_feature_bits("threads"));
	wasm_config_delete(c);
}

static void an_engine_says_what_it_is(void **state)
{
	wasm_config_t *c = wasm_config_new();
	uint64_t n = 77, simd = rd_feature_bits("simd");

	(void)state;
	rd_config_backtrace(c, false);
	rd_config_async_stack(c, 3 << 20);
	assert_true(rd_config_feature(c, "simd", false));
	assert_true(rd_config_feature(c, "relaxed-simd", false));
	wasm_engine_t *e = wasm_engine_new_with_config(c);
	assert_int_equal(rd_engine_features(e) & simd, 0);
	assert_false(rd_engine_number(e, "no-such-thing", &n));
	assert_false(rd_engine_number(e, "pool-tables", &n));
	assert_int_equal(n, 77);
	assert_true(rd_engine_number(e, "backtrace-frames", &n));
	assert_int_equal(n, 0);
	assert_true(rd_engine_number(e, "async-stack-size", &n));
	assert_int_equal(n, 3 << 20);
	wasm_engine_delete(e);
	e = wasm_engine_new();
	assert_int_equal(rd_engine_features(e) & simd, simd);
	assert_true(rd_engine_number(e, "backtrace-frames", &n));
	assert_int_equal(n, 20);
	wasm_engine_delete(e);
}

/* (module (global (export "g") (mut i32) (i32.const 0))) */
static void a_feature_that_is_off_is_refused(void **state)
{
	static const uint8_t exports_mutable[] = {
		0, 'a', 's', 'm', 1, 0, 0, 0,
		6, 6, 1, 0x7f, 1, 0x41, 0, 0x0b,
		7, 5, 1, 1, 'g', 3, 0,
	};

	(void)state;
	for (int on = 0; on < 2; on++) {
		wasm_config_t *c = wasm_config_new();
		wasm_byte_vec_t artefact = {0};

		assert_true(rd_config_feature(c, "mutable-global", on));
		wasm_engine_t *e = wasm_engine_new_with_config(c);
		wasmtime_error_t *error = rd_precompile(
			e, exports_mutable, sizeof(exports_mutable), &artefact);
		assert_int_equal(error == NULL, on);
		assert_int_equal(artefact.data != NULL, on);
		if (error)
			wasmtime_error_delete(error);
		wasm_byte_vec_delete(&artefact);
		wasm_engine_delete(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_counted),
		cmocka_unit_test(the_modules_own_maximum),
		cmocka_unit_test(tables_are_counted),
		cmocka_unit_test(instantiation_is_under_the_limits),
		cmocka_unit_test(features_go_by_name),
		cmocka_unit_test(an_engine_says_what_it_is),
		cmocka_unit_test(a_feature_that_is_off_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Imports and entries: what a module must have, and the sentence if it lacks
 * it. */
#include <string.h>
#include <sys/utsname.h>

#include "engine_fixture.h"

#include "wasi/wasi.h"

#define WASI "wasi_snapshot_preview1"

/* Compiles and loads; links with the WASI of `w` and returns that call's
 * code. */
static int link_module(struct jar *j, struct wasm *m, struct wasi *w)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};

	memset(j, 0, sizeof(*j));
	jar_use_signals();
	wasm_finish(m, &wasm);
	must(j, compile_module_bytes(PROFILE_MODULE, wasm.data, wasm.len,
				     &artefact, &j->err));
	must(j, engine_new(PROFILE_MODULE, &j->e, &j->err));
	must(j, module_load_bytes(j->e, artefact.data, artefact.len, &j->err));
	return module_link(j->e, w, &j->err);
}

static void refused(struct jar *j, int rc, const char *words)
{
	if (rc != REDOMA_E_INVALID || !strstr(j->err.text, words))
		print_error("%d \"%s\" lacks \"%s\"\n", rc, j->err.text,
			    words);
	assert_int_equal(rc, REDOMA_E_INVALID);
	assert_non_null(strstr(j->err.text, words));
}

static struct wasi *new_wasi(void)
{
	static const volatile sig_atomic_t never = 0;
	struct wasi *w = NULL;

	assert_int_equal(wasi_new(&never, &w, NULL), 0);
	return w;
}

static void all_unknown_imports_are_listed_at_once(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "", "");

	(void)state;
	wasm_import(&m, "env", "emscripten_sleep", t);
	wasm_import(&m, WASI, "fd_fly", t);
	wasm_import(&m, "env", "__syscall\n_open", t);
	for (int i = 0; i < 50; i++)
		wasm_import(&m, "env", "another_function_with_a_name", t);
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	refused(&j, link_module(&j, &m, w), "unknown imports: "
					    "env.emscripten_sleep, " WASI
					    ".fd_fly, env.__syscall?_open");
	assert_non_null(strstr(j.err.text, " more"));
	jar_close(&j);
	wasi_free(w);
}

static void known_imports_are_linked(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "i", "");

	(void)state;
	wasm_import(&m, WASI, "proc_exit", t);
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	assert_int_equal(link_module(&j, &m, w), 0);
	jar_close(&j);
	wasi_free(w);
}

static void an_import_of_another_type_does_not_fit(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "I", "");

	(void)state;
	wasm_import(&m, WASI, "proc_exit", t);
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	refused(&j, link_module(&j, &m, w), "imports do not fit");
	assert_non_null(strstr(j.err.text, "proc_exit"));
	jar_close(&j);
	wasi_free(w);
}

static void threads_are_told_from_unknown_imports(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "i", "i");

	(void)state;
	wasm_import(&m, "env", "x", t);
	wasm_import(&m, "wasi", "thread-spawn", t);
	refused(&j, link_module(&j, &m, w), "built for threads");
	jar_close(&j);
	wasi_free(w);
}

static void the_draft_of_wasi_is_refused(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "i", "");

	(void)state;
	wasm_import(&m, "wasi_unstable", "proc_exit", t);
	refused(&j, link_module(&j, &m, w), "wasi_unstable");
	jar_close(&j);
	wasi_free(w);
}

static void wasi_needs_an_exported_memory(void **state)
{
	struct wasi *w = new_wasi();
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "i", "");

	(void)state;
	wasm_import(&m, WASI, "proc_exit", t);
	wasm_memory(&m, 1, -1);
	refused(&j, link_module(&j, &m, w), "--export-memory");
	jar_close(&j);
	wasi_free(w);
}

static void nothing_is_imported_without_wasi(void **state)
{
	struct wasm m = {0};
	struct jar j;

	(void)state;
	wasm_import(&m, WASI, "proc_exit", wasm_type(&m, "i", ""));
	refused(&j, link_module(&j, &m, NULL), "unknown imports");
	jar_close(&j);
}

/* A module with one export, or none, asked for a function it lacks. */
static void lacks(const char *export, const char *invoke, const char *words)
{
	struct wasm m = {0};
	struct jar j;
	uint32_t t = wasm_type(&m, "", "");

	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	if (export)
		wasm_export(&m, export, 0, wasm_func(&m, t, "", CODE(0x01)));
	assert_int_equal(link_module(&j, &m, NULL), 0);
	refused(&j, module_entry(j.e, invoke, 0, &j.err), words);
	jar_close(&j);
}

static void what_is_exported_is_listed(void **state)
{
	(void)state;
	lacks("_start", "nope",
	      "no exported function \"nope\" (exports: _start)");
	lacks("_initialize", NULL, "--invoke NAME (exports: _initialize)");
	lacks(NULL, "nope", "the module exports no function at all");
	lacks(NULL, NULL, "no other function is exported");
}

static void an_entry_is_found_or_named(void **state)
{
	const char *const one_arg[] = {"1", NULL};
	struct wasm m = {0};
	struct jar j;
	uint32_t plain = wasm_type(&m, "", ""), one = wasm_type(&m, "i", "i");
	uint32_t vec = wasm_type(&m, "v", ""), refs = wasm_type(&m, "rxe", "");

	(void)state;
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "_initialize", 0,
		    wasm_func(&m, plain, "", CODE(0x01)));
	wasm_export(&m, "convert", 0,
		    wasm_func(&m, one, "", CODE(0x20, 0)));
	wasm_export(&m, "blend", 0, wasm_func(&m, vec, "", CODE(0x01)));
	wasm_export(&m, "refs", 0, wasm_func(&m, refs, "", CODE(0x01)));
	assert_int_equal(link_module(&j, &m, NULL), 0);
	refused(&j, module_entry(j.e, NULL, 0, &j.err),
		"no command entry (_start); call an export with --invoke NAME "
		"(exports: convert, blend, refs)");
	refused(&j, module_entry(j.e, "konvert", 0, &j.err),
		"no exported function \"konvert\" "
		"(exports: convert, blend, refs)");
	refused(&j, module_entry(j.e, "memory", 0, &j.err),
		"no exported function \"memory\"");
	refused(&j, module_entry(j.e, "convert", 2, &j.err),
		"takes 1 arguments, 2 were given");
	refused(&j, module_entry(j.e, "blend", 1, &j.err), "only numbers");
	refused(&j, module_entry(j.e, "refs", 3, &j.err), "only numbers");
	assert_int_equal(module_entry(j.e, "convert", 1, &j.err), 0);
	assert_true(module_has(j.e, "convert", "i", "i"));
	assert_false(module_has(j.e, "convert", "I", "i"));
	assert_false(module_has(j.e, "memory", "", ""));
	must(&j, exec_new(j.e, NULL, &j.x, &j.err));
	jar_begin(&j, MIB, 0);
	refused(&j, exec_invoke(j.x, "blend", one_arg, &j.out, NULL, &j.err),
		"only numbers");
	refused(&j, exec_invoke(j.x, "refs", one_arg, &j.out, NULL, &j.err),
		"only numbers");
	jar_close(&j);
}

/* A reactor's initialiser runs once before the export. */
static void a_reactor_is_initialised_first(void **state)
{
	CLEANUP(buf_done) struct buf v = {0};
	struct wasm m = {0};
	struct jar j;
	uint32_t plain = wasm_type(&m, "", ""), get = wasm_type(&m, "", "i");

	(void)state;
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	wasm_global_i32(&m, 1);
	wasm_export(&m, "_initialize", 0,
		    wasm_func(&m, plain, "",
			      CODE(0x23, 0, 0x41, 41, 0x6a, 0x24, 0)));
	wasm_export(&m, "get", 0, wasm_func(&m, get, "", CODE(0x23, 0)));
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, MIB, 0);
	jar_call(&j, "get", &v);
	assert_string_equal(v.data, "42");
	jar_close(&j);
}

static void entries_of_odd_types_are_refused(void **state)
{
	struct wasm m = {0};
	struct jar j;
	uint32_t wide = wasm_type(&m, "IIIIIIII", "IIIIIIII");
	uint32_t f = wasm_func(&m, wide, "", CODE(0x00));

	(void)state;
	wasm_export(&m, "_start", 0, f);
	assert_int_equal(link_module(&j, &m, NULL), 0);
	refused(&j, module_entry(j.e, NULL, 0, &j.err), "is no command");
	must(&j, exec_new(j.e, NULL, &j.x, &j.err));
	jar_begin(&j, MIB, 0);
	assert_int_equal(exec_start(j.x, &j.out, &j.err), REDOMA_E_INVALID);
	jar_close(&j);

	wide = wasm_type(&m, "IIIIIIII", "IIIIIIII");
	f = wasm_func(&m, wide, "", CODE(0x00));
	wasm_export(&m, "_initialize", 0, f);
	refused(&j, link_module(&j, &m, NULL), "_initialize has parameters");
	jar_close(&j);
}

static void segments_must_lie_inside(void **state)
{
	struct exec_limits l = {.memory_bytes = MIB};

	(void)state;
	for (int32_t at = 65533; at < 65536; at++) {
		struct wasm m = {0};
		struct jar j;
		int rc;

		wasm_memory(&m, 1, -1);
		wasm_export(&m, "memory", 2, 0);
		wasm_data(&m, at, "abc", 3);
		assert_int_equal(link_module(&j, &m, NULL), 0);
		must(&j, exec_new(j.e, NULL, &j.x, &j.err));
		rc = exec_begin(j.x, &l, &j.out, &j.err);
		if (at == 65533)
			assert_int_equal(rc, 0);
		else
			refused(&j, rc, "reach outside");
		jar_close(&j);
	}
}

static void only_artefacts_of_this_profile_are_loaded(void **state)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};
	struct wasm m = {0};

	(void)state;
	jar_use_signals();
	wasm_memory(&m, 1, -1);
	wasm_finish(&m, &wasm);
	assert_int_equal(compile_module_bytes(PROFILE_MODULE, wasm.data,
					      wasm.len, &artefact, NULL),
			 0);
	for (int p = 0; p < PROFILES; p++) {
		struct redoma_error err;
		struct engine *e = NULL;

		assert_int_equal(engine_new((enum profile)p, &e, &err),
				 0);
		assert_int_equal(module_load_bytes(e, artefact.data,
						   artefact.len, &err),
				 p == PROFILE_MODULE ? 0 : REDOMA_E_INVALID);
		if (p != PROFILE_MODULE) {
			assert_int_equal(module_load_bytes(e, wasm.data,
							   wasm.len, &err),
					 REDOMA_E_INVALID);
			assert_int_equal(module_load_bytes(e, "", 0, &err),
					 REDOMA_E_INVALID);
		}
		engine_free(e);
	}
	assert_int_equal(profile_find("module-fuel"),
			 PROFILE_MODULE_FUEL);
	assert_int_equal(profile_find("x"), PROFILES);
	assert_non_null(strstr(engine_version(), "wasmtime 48."));
}

/* 1: the code may use that feature; 0: not; -1: no such feature. */
static int uses(const struct buf *artefact, const char *flag)
{
	const char *at = memmem(artefact->data, artefact->len, flag,
				strlen(flag));

	return at && at[strlen(flag)] == 2 ? at[strlen(flag) + 1] : -1;
}

/* What is compiled for many machines uses what all of them have. */
static void a_level_uses_what_it_names(void **state)
{
	static const struct {
		const char *cpu;
		int sse42, avx2;
	} rows[] = {{"baseline", 0, 0}, {"x86-64-v2", 1, 0},
		    {"x86-64-v3", 1, 1}};
	CLEANUP(buf_done) struct buf wasm = {0};
	struct wasm m = {0};
	struct utsname here;
	struct redoma_error err;

	(void)state;
	jar_use_signals();
	wasm_finish(&m, &wasm);
	assert_int_equal(uname(&here), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CLEANUP(buf_done) struct buf out = {0};
		const struct cpu *cpu = cpu_find(rows[i].cpu);
		bool other = cpu->machine && strcmp(cpu->machine, here.machine);

		assert_int_equal(compile_for_cpu(PROFILE_IMAGE, cpu,
						 (struct str){wasm.data,
							      wasm.len},
						 &out, &err),
				 other ? REDOMA_E_INVALID : 0);
		if (other || strcmp(here.machine, "x86_64"))
			continue;
		assert_int_equal(uses(&out, "has_sse42"), rows[i].sse42);
		assert_int_equal(uses(&out, "has_avx2"), rows[i].avx2);
		assert_int_equal(uses(&out, "has_avx512f"), 0);
	}
	assert_null(cpu_find("native"));
	assert_null(cpu_find("x86-64-v9"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_uses_what_it_names),
		cmocka_unit_test(all_unknown_imports_are_listed_at_once),
		cmocka_unit_test(known_imports_are_linked),
		cmocka_unit_test(an_import_of_another_type_does_not_fit),
		cmocka_unit_test(threads_are_told_from_unknown_imports),
		cmocka_unit_test(the_draft_of_wasi_is_refused),
		cmocka_unit_test(wasi_needs_an_exported_memory),
		cmocka_unit_test(nothing_is_imported_without_wasi),
		cmocka_unit_test(what_is_exported_is_listed),
		cmocka_unit_test(an_entry_is_found_or_named),
		cmocka_unit_test(a_reactor_is_initialised_first),
		cmocka_unit_test(entries_of_odd_types_are_refused),
		cmocka_unit_test(segments_must_lie_inside),
		cmocka_unit_test(only_artefacts_of_this_profile_are_loaded),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

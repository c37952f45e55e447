/* What is refused before or by the compiler, and in which words. */
#include "engine_fixture.h"

#include "engine/inspect.h"

static int compile_bytes(const void *p, size_t n, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf out = {0};
	int rc = compile_module_bytes(PROFILE_MODULE, p, n, &out, err);

	assert_int_equal(out.len > 0, rc == 0);
	return rc;
}

static int compile_wasm(struct wasm *m, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	wasm_finish(m, &b);
	return compile_bytes(b.data, b.len, err);
}

static void refused(int rc, const struct redoma_error *err, const char *words)
{
	if (rc != REDOMA_E_INVALID || !strstr(err->text, words))
		print_error("%d \"%s\" lacks \"%s\"\n", rc, err->text, words);
	assert_int_equal(rc, REDOMA_E_INVALID);
	assert_non_null(strstr(err->text, words));
	assert_null(strstr(err->text, "/"));
}

static void what_is_no_module_is_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *words;
	} rows[] = {
		{"", 0, "is empty"},
		{"\0asm", 4, "not WebAssembly"},
		{"(module)", 8, "text format"},
		{"\x7f"
		 "ELF\1\1\1\0",
		 8, "not WebAssembly"},
		{"\0asm\x0d\0\1\0", 8, "this is a component"},
		{"\0asm\2\0\0\0", 8, "version 2 is unknown"},
		{"\0asm\1\0\0\1", 8, "version 16777217 is unknown"},
	};
	struct redoma_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(compile_bytes(rows[i].bytes, rows[i].len, &err), &err,
			rows[i].words);
}

static void sections_must_lie_inside(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *words;
	} rows[] = {
		{"\1", 1, "bad section length"},
		{"\1\5", 2, "past the end"},
		{"\1\xff\xff\xff\xff\x0f", 6, "past the end"},
		{"\1\xff\xff\xff\xff\x1f", 6, "bad section length"},
		{"\1\x80\x80\x80\x80\x80\0", 7, "bad section length"},
		{"\x0e\0", 2, "unknown section"},
		{"\xff\0", 2, "unknown section"},
		/* counts larger than what follows */
		{"\1\5\xff\xff\xff\xff\x0f", 7, "not a valid module"},
		{"\3\5\xff\xff\xff\xff\x0f", 7, "not a valid module"},
		{"\x0a\5\xff\xff\xff\xff\x0f", 7, "not a valid module"},
		{"\4\5\xff\xff\xff\xff\x0f", 7, "not a valid module"},
		{"\7\5\xff\xff\xff\xff\x0f", 7, "not a valid module"},
		{"\2\3\1\x7f\0", 5, "not a valid module"}, /* name too long */
		{"\5\4\1\0\x81\x81", 6, "not a valid module"}, /* cut LEB */
		{"\1\1\0\1\1\0", 6, "not a valid module"}, /* twice */
		{"\3\2\1\0", 4, "not a valid module"},	   /* no such type */
		{"\x08\1\0", 3, "not a valid module"}, /* start of nothing */
		{"\5\5\1\0\x81\x80\4", 7, "not a valid module"}, /* 65537 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CLEANUP(buf_done) struct buf b = {0};
		struct redoma_error err;

		wasm_header(&b);
		wasm_put(&b, rows[i].bytes, rows[i].len);
		refused(compile_bytes(b.data, b.len, &err), &err,
			rows[i].words);
	}
}

static void every_cut_of_a_module_is_refused(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;
	struct wasm m = {0};
	size_t accepted = 0;

	(void)state;
	wasm_memory(&m, 1, 2);
	wasm_table(&m, 1, 4);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "f", 0,
		    wasm_func(&m, wasm_type(&m, "i", "i"), "I",
			      CODE(0x20, 0, 0x41, 7, 0x6a)));
	wasm_data(&m, 8, "hello", 5);
	wasm_finish(&m, &b);
	for (size_t n = 0; n < b.len; n++)
		accepted += compile_bytes(b.data, n, &err) == 0;
	/* Cuts between sections may leave a valid, smaller module: after the
	 * header, the types, and before the data. */
	assert_true(accepted <= 3);
	assert_int_equal(compile_bytes(b.data, b.len, &err), 0);
}

/* A function body of these bytes, in a module with one memory. */
static int body(const uint8_t *code, size_t len, struct redoma_error *err)
{
	struct wasm m = {0};

	wasm_memory(&m, 1, -1);
	wasm_func(&m, wasm_type(&m, "", ""), "iIIv", code, len);
	return compile_wasm(&m, err);
}

/* A module of one section. */
static int section(unsigned id, const uint8_t *p, size_t n,
		   struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	wasm_header(&b);
	wasm_section(&b, id, p, n);
	return compile_bytes(b.data, b.len, err);
}

static int two_memories(struct redoma_error *err)
{
	struct wasm m = {0};

	wasm_memory(&m, 1, -1);
	wasm_memory(&m, 1, -1);
	return compile_wasm(&m, err);
}

static void a_feature_that_is_off_is_named(void **state)
{
	struct redoma_error err;

	(void)state;
	refused(section(5, CODE(1, 3, 1, 1), &err), &err, "threads");
	refused(body(CODE(0xfe, 3, 0), &err), &err, "threads");
	refused(section(5, CODE(1, 4, 1), &err), &err, "memory64");
	refused(two_memories(&err), &err, "multi-memory");
	refused(section(5, CODE(1, 8, 1, 0), &err), &err,
		"custom page sizes");
	refused(section(1, CODE(1, 0x5f, 1, 0x7f, 0), &err), &err, "GC");
	refused(section(1, CODE(1, 0x5e, 0x7f, 0), &err), &err, "GC");
	refused(body(CODE(0xfb, 0x1c, 0x1a), &err), &err, "GC");
	refused(body(CODE(0x06, 0x40, 0x19, 0x0b), &err), &err,
		"legacy exceptions");
	refused(body(CODE(0x12, 0), &err), &err, "tail calls");
	refused(body(CODE(0x20, 3, 0x20, 3, 0xfd, 0x80, 2, 0x1a), &err), &err,
		"relaxed SIMD");
	refused(body(CODE(0x20, 1, 0x20, 2, 0x20, 1, 0x20, 2, 0xfc, 0x13, 0x1a,
			  0x1a),
		     &err),
		&err, "wide arithmetic");
	refused(section(1, CODE(2, 0x60, 0, 0, 0x5d, 0), &err), &err,
		"stack switching");
	refused(body(CODE(0xd0, 0x70, 0x14, 0), &err), &err,
		"function references");
	/* memory.discard */
	refused(body(CODE(0x41, 0, 0x41, 0, 0xfc, 0x12, 0), &err), &err,
		"memory control");
	/* (type (shared (func))), (ref null (exact 0)), two imports of "" */
	refused(section(1, CODE(1, 0x65, 0x60, 0, 0), &err), &err,
		"shared-everything threads");
	refused(section(1, CODE(2, 0x60, 0, 0, 0x60, 1, 0x63, 0x62, 0, 0), &err), &err,
		"custom descriptors");
	refused(section(2, CODE(2, 1, 'm', 0, 0x7f, 1, 1, 'a', 3, 0x7f, 0),
			&err),
		&err, "compact imports");
	/* (type (component)), as a component's type section would have it */
	refused(section(1, CODE(1, 0x41, 0), &err), &err, "not a valid module");
	refused(compile_bytes("\0asm\x0d\0\1\0", 8, &err), &err,
		"this is a component");
}

static void a_feature_that_is_on_runs(void **state)
{
	struct redoma_error err = {0};

	(void)state;
	/* SIMD: i32x4.add; sign extension; saturating conversion; bulk. */
	assert_int_equal(body(CODE(0x20, 3, 0x20, 3, 0xfd, 0xae, 1, 0x1a),
			      &err),
			 0);
	assert_int_equal(body(CODE(0x20, 0, 0xc0, 0x1a), &err), 0);
	assert_int_equal(body(CODE(0x43, 0, 0, 0, 0, 0xfc, 0, 0x1a), &err), 0);
	assert_int_equal(body(CODE(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 11, 0),
			      &err),
			 0);
	/* reference types: ref.null func; multi-value block by type */
	assert_int_equal(body(CODE(0xd0, 0x70, 0x1a), &err), 0);
	/* extended constants: a global of 1 + 2 */
	assert_int_equal(section(6,
				 CODE(1, 0x7f, 0, 0x41, 1, 0x41, 2, 0x6a, 0x0b),
				 &err),
			 0);
}

/* throw 7, catch it with try_table, return what was caught. */
static void exceptions_run(void **state)
{
	CLEANUP(buf_done) struct buf v = {0};
	struct wasm m = {0};
	struct jar j;
	uint32_t tag = wasm_type(&m, "i", ""), get = wasm_type(&m, "", "i");

	(void)state;
	wasm_byte(&m.body[13], 0);
	wasm_leb(&m.body[13], tag);
	m.count[13]++;
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "caught", 0,
		    wasm_func(&m, get, "",
			      CODE(0x02, 0x7f, 0x1f, 0x40, 1, 0, 0, 0, 0x41, 7,
				   0x08, 0, 0x0b, 0x41, 1, 0x0b)));
	wasm_export(&m, "uncaught", 0,
		    wasm_func(&m, get, "", CODE(0x41, 7, 0x08, 0)));
	wasm_export(&m, "tag", 4, 0);
	jar_open(&j, PROFILE_MODULE, &m, NULL);
	jar_begin(&j, 4 * MIB, 0);
	jar_call(&j, "caught", &v);
	assert_int_equal(j.out.end, EXEC_DONE);
	assert_string_equal(v.data, "7");
	jar_call(&j, "uncaught", &v);
	assert_int_equal(j.out.end, EXEC_TRAP);
	assert_string_equal(j.out.text, "uncaught exception");
	jar_close(&j);
}

static void bombs_of_types_are_refused_at_once(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;

	(void)state;
	wasm_leb(&b, 5600);
	for (int i = 0; i < 5600; i++) {
		wasm_byte(&b, 0x5f);
		wasm_leb(&b, 50);
		for (int f = 0; f < 50; f++)
			wasm_put(&b, "\x7f\1", 2);
	}
	refused(section(1, (uint8_t *)b.data, b.len, &err), &err, "GC");
}

static void a_body_at_the_formats_limit(void **state)
{
	enum { LIMIT = 7654321 }; /* bytes, as in engines of browsers */
	uint8_t *code = calloc(1, LIMIT + 16);
	struct redoma_error err;

	(void)state;
	assert_non_null(code);
	memset(code, 1, LIMIT + 16); /* nop */
	assert_int_equal(body(code, LIMIT - 10, &err), 0);
	refused(body(code, LIMIT + 1, &err), &err, "size");
	free(code);
}

static void a_name_section_of_60_mib(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct redoma_error err;
	size_t n = (size_t)60 << 20;
	char *junk = calloc(1, n);

	(void)state;
	assert_non_null(junk);
	wasm_header(&b);
	wasm_byte(&b, 0);
	wasm_leb(&b, n + 5);
	wasm_name_bytes(&b, "name");
	wasm_put(&b, junk, n);
	assert_int_equal(compile_bytes(b.data, b.len, &err), 0);
	wasm_put(&b, "\0\x84\x80\x80\2", 5); /* a custom section of 4 MiB */
	wasm_put(&b, "\3abc", 4);
	wasm_put(&b, junk, (size_t)4 << 20);
	refused(compile_bytes(b.data, b.len, &err), &err, "at most 64");
	free(junk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_module_is_named),
		cmocka_unit_test(sections_must_lie_inside),
		cmocka_unit_test(every_cut_of_a_module_is_refused),
		cmocka_unit_test(a_feature_that_is_off_is_named),
		cmocka_unit_test(a_feature_that_is_on_runs),
		cmocka_unit_test(exceptions_run),
		cmocka_unit_test(bombs_of_types_are_refused_at_once),
		cmocka_unit_test(a_body_at_the_formats_limit),
		cmocka_unit_test(a_name_section_of_60_mib),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

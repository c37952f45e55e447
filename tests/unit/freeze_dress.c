/* A module becomes an image: what is added, and every module that has state
 * outside of its memory is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "freeze/dress.h"
#include "freeze/emit.h"
#include "freeze/section.h"
#include "wasm_build.h"

#define LINE "go()"
#define PAGE 65536u

/* What a module has that may not be, or lacks. */
struct odd {
	bool global, no_turn, no_memory, start, export_global;
	const uint8_t *code;
	size_t len;
};

static void make(const struct odd *o, struct buf *ret)
{
	struct wasm m = {0};
	uint32_t t1 = wasm_type(&m, "i", "i"), t2 = wasm_type(&m, "ii", "i");
	uint32_t host = wasm_type(&m, "iiii", "i");
	uint32_t none = wasm_type(&m, "", "");
	uint32_t alloc, turn, extra;

	wasm_import(&m, "host", "call", host);
	wasm_import(&m, "wasi_snapshot_preview1", "fd_write", host);
	alloc = wasm_func(&m, t1, "", CODE(0x20, 0));
	turn = wasm_func(&m, t2, "", CODE(0x20, 1));
	extra = wasm_func(&m, none, "", o->code ? o->code : (const uint8_t *)"",
			  o->len);
	wasm_table(&m, 1, 1);
	wasm_memory(&m, 2, -1);
	wasm_global_i32(&m, 1024);
	if (o->global)
		wasm_global_i32(&m, 7);
	if (o->start)
		m.start = extra + 1;
	wasm_export(&m, "host_alloc", 0, alloc);
	if (!o->no_turn)
		wasm_export(&m, "turn", 0, turn);
	if (!o->no_memory)
		wasm_export(&m, "memory", 2, 0);
	if (o->export_global)
		wasm_export(&m, "sp", 3, 0);
	wasm_data(&m, 16, "abc", 3);
	wasm_finish(&m, ret);
}

static int dress(const struct odd *o, struct buf *ret, uint32_t *ret_mail,
		 struct redoma_error *err)
{
	struct buf in = {0};
	int r;

	make(o, &in);
	r = dress_module((struct str){in.data, in.len}, STR(LINE), ret,
			 ret_mail, err);
	buf_done(&in);
	return r;
}

static bool holds(const struct buf *b, const char *text)
{
	return memmem(b->data, b->len, text, strlen(text)) != NULL;
}

static void a_module_gets_what_an_image_has(void **state)
{
	static const char *const wanted[] = {
		"redoma_alloc", "redoma_run", "redoma_result",
		"redoma_interrupt_ptr", "redoma_stack", LINE,
		"\x06redoma\x03" "ask", "fd_write", "turn",
	};
	struct buf out = {0};
	uint32_t mail = 0;

	(void)state;
	assert_int_equal(dress(&(struct odd){0}, &out, &mail, NULL), 0);
	assert_int_equal(mail, 2 * PAGE);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!holds(&out, wanted[i]))
			fail_msg("there is no %s", wanted[i]);
	assert_false(holds(&out, "\x04host\x04" "call"));
	assert_int_equal(section_check((struct str){out.data, out.len}, NULL),
			 0);
	buf_done(&out);
}

static void refused(const struct odd *o, const char *says)
{
	struct buf out = {0};
	struct redoma_error err = {0};
	uint32_t mail = 77;

	assert_int_equal(dress(o, &out, &mail, &err), REDOMA_E_INVALID);
	if (!strstr(err.text, says))
		fail_msg("\"%s\" does not say \"%s\"", err.text, says);
	assert_int_equal(mail, 77);
	buf_done(&out);
}

/* An instruction and what the sentence says of it. */
static void refused_code(const uint8_t *code, size_t len, const char *says)
{
	refused(&(struct odd){.code = code, .len = len}, says);
}

static void state_outside_of_memory_is_refused(void **state)
{
	(void)state;
	refused(&(struct odd){.global = true}, "mutable global");
	refused(&(struct odd){.export_global = true}, "a table or a global");
	refused(&(struct odd){.start = true}, "start function");
	/* ref.null func; table.set needs an index below it */
	refused_code(CODE(0x41, 0, 0xd0, 0x70, 0x26, 0), "table.set");
	refused_code(CODE(0xd0, 0x70, 0x41, 1, 0xfc, 15, 0, 0x1a), "a table");
	refused_code(CODE(0xfc, 13, 0), "a table");
	refused_code(CODE(0xfc, 9, 0), "data.drop");
	refused_code(CODE(0x41, 0, 0x41, 0, 0x41, 0, 0xfc, 8, 0, 0),
		     "memory.init");
	refused_code(CODE(0xff), "unknown instruction");
}

static void what_lacks_an_entry_is_refused(void **state)
{
	(void)state;
	refused(&(struct odd){.no_turn = true}, "turn");
	refused(&(struct odd){.no_memory = true}, "memory");
}

/* Wherever a module ends too early, it is an error and nothing worse. */
static void every_cut_is_refused_or_whole(void **state)
{
	struct buf in = {0}, out = {0};
	uint32_t mail;

	(void)state;
	make(&(struct odd){0}, &in);
	for (size_t n = 0; n < in.len; n++) {
		char *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, in.data, n);
		assert_int_equal(dress_module((struct str){cut, n}, STR(LINE),
					      &out, &mail, NULL),
				 REDOMA_E_INVALID);
		free(cut);
	}
	buf_done(&in);
	buf_done(&out);
}

static void memory_becomes_data(void **state)
{
	struct buf in = {0}, out = {0};
	uint8_t *memory = calloc(3, PAGE);
	uint32_t mail;

	(void)state;
	assert_non_null(memory);
	memcpy(memory + 100, "first run", 9);
	memcpy(memory + 2 * PAGE + 5, "last page", 9);
	assert_int_equal(dress(&(struct odd){0}, &in, &mail, NULL), 0);
	assert_int_equal(emit_module((struct str){in.data, in.len}, memory,
				     3 * PAGE, &out, NULL),
			 0);
	assert_true(holds(&out, "first run"));
	assert_true(holds(&out, "last page"));
	assert_false(holds(&out, LINE));
	/* Zeros are not written. */
	assert_true(out.len < 2000);
	free(memory);
	buf_done(&in);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_module_gets_what_an_image_has),
		cmocka_unit_test(state_outside_of_memory_is_refused),
		cmocka_unit_test(what_lacks_an_entry_is_refused),
		cmocka_unit_test(every_cut_is_refused_or_whole),
		cmocka_unit_test(memory_becomes_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

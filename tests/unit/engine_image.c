/* The host's half of the language-image ABI, against small images that answer
 * what they are told to. */
#include "engine_fixture.h"

#include "engine/image.h"

#define RESULT_AT 512
#define WORD_AT 256
#define ROOM_AT 4096

struct shape {
	uint32_t room, result, word; /* what the exports return */
	uint32_t words[13];	     /* the result */
};

static const struct shape good = {
	.room = ROOM_AT,
	.result = RESULT_AT,
	.word = WORD_AT,
	.words = {0x31524452, IMAGE_THROWN, 7, 1024, 5, 1032, 4, 1040, 3, 1048,
		  2, 11, 22},
};

static uint32_t constant(struct wasm *m, uint32_t type, uint32_t v)
{
	CLEANUP(buf_done) struct buf code = {0};

	wasm_byte(&code, 0x41);
	wasm_sleb(&code, (int32_t)v);
	return wasm_func(m, type, "", (const uint8_t *)code.data, code.len);
}

static void open_shape(struct jar *j, const struct shape *s)
{
	struct wasm m = {0};
	uint32_t none = wasm_type(&m, "", "i"), one = wasm_type(&m, "i", "i");
	uint32_t two = wasm_type(&m, "ii", "i");

	wasm_memory(&m, 2, -1);
	wasm_export(&m, "memory", 2, 0);
	wasm_export(&m, "redoma_alloc", 0, constant(&m, one, s->room));
	wasm_export(&m, "redoma_run", 0, constant(&m, two, 1));
	wasm_export(&m, "redoma_result", 0, constant(&m, none, s->result));
	wasm_export(&m, "redoma_interrupt_ptr", 0,
		    constant(&m, none, s->word));
	wasm_data(&m, RESULT_AT, s->words, sizeof(s->words));
	wasm_data(&m, 1024, "value\0\0\0name\0\0\0\0msg\0\0\0\0\0st", 26);
	jar_open(j, PROFILE_IMAGE, &m, NULL);
	jar_begin(j, MIB, 0);
}

static const char *const argv[] = {"a", "bc", NULL};
static const char *const env[] = {"K=V", NULL};

static struct image_request request(void)
{
	return (struct image_request){
		.source = "so\0urce",
		.source_len = 7,
		.input = "{}",
		.input_len = 2,
		.name = "x.js",
		.argv = (char *const *)argv,
		.env = (char *const *)env,
	};
}

static uint32_t word(const uint8_t *p, size_t i)
{
	uint32_t v;

	memcpy(&v, p + 4 * i, 4);
	return v;
}

static void span_is(const uint8_t *p, size_t i, const char *text, size_t len)
{
	assert_int_equal(word(p, i + 1), len);
	assert_memory_equal(p + word(p, i), text, len + 1);
}

static void a_request_arrives_and_a_result_comes_back(void **state)
{
	struct image_request q = request();
	struct image_result r;
	const uint8_t *p;
	struct jar j;
	size_t size;

	(void)state;
	open_shape(&j, &good);
	must(&j, image_prepare(j.x, &j.err));
	must(&j, image_run(j.x, &q, &j.out, &r, &j.err));
	assert_int_equal(j.out.end, EXEC_DONE);
	assert_int_equal(r.kind, IMAGE_THROWN);
	assert_int_equal(r.exit_code, 7);
	assert_memory_equal(r.value.p, "value", r.value.len);
	assert_memory_equal(r.name.p, "name", r.name.len);
	assert_memory_equal(r.message.p, "msg", r.message.len);
	assert_memory_equal(r.stack.p, "st", r.stack.len);
	assert_int_equal(r.line, 11);
	assert_int_equal(r.column, 22);

	p = exec_memory(j.x, &size) + ROOM_AT;
	assert_int_equal(word(p, 0), 0x31514452);
	span_is(p, 1, "so\0urce", 7);
	span_is(p, 3, "{}", 2);
	span_is(p, 5, "x.js", 4);
	assert_int_equal(word(p, 7), MIB);
	assert_int_equal(word(p, 8), 2);
	span_is(p, 9, "a", 1);
	span_is(p, 11, "bc", 2);
	assert_int_equal(word(p, 13), 1);
	span_is(p, 14, "K=V", 3);
	jar_close(&j);
}

static void the_interrupt_word_is_where_it_says(void **state)
{
	volatile int32_t *w;
	struct jar j;
	size_t size;

	(void)state;
	open_shape(&j, &good);
	assert_null(image_interrupt_word(j.x));
	must(&j, image_prepare(j.x, &j.err));
	w = image_interrupt_word(j.x);
	*w = 1;
	assert_int_equal(word(exec_memory(j.x, &size), WORD_AT / 4), 1);
	exec_reset(j.x);
	assert_null(image_interrupt_word(j.x));
	jar_begin(&j, MIB, 0);
	assert_non_null(image_interrupt_word(j.x));
	assert_int_equal(*image_interrupt_word(j.x), 0);
	jar_close(&j);
}

static void run_shape(const struct shape *s, enum exec_end end)
{
	struct image_request q = request();
	struct image_result r;
	struct jar j;

	open_shape(&j, s);
	must(&j, image_prepare(j.x, &j.err));
	must(&j, image_run(j.x, &q, &j.out, &r, &j.err));
	assert_int_equal(j.out.end, end);
	assert_true(j.out.text[0]);
	assert_int_equal(image_run(j.x, &q, &j.out, &r, &j.err),
			 end == EXEC_MEMORY ? 0 : REDOMA_E_BUSY);
	jar_close(&j);
}

static void lies_are_not_believed(void **state)
{
	static const struct {
		size_t at;
		uint32_t v;
	} lies[] = {
		{0, 0x31524453},   {1, IMAGE_KINDS}, {1, UINT32_MAX},
		{3, 131072 - 4},   {3, UINT32_MAX},  {4, UINT32_MAX},
		{5, UINT32_MAX},   {6, 131072},	     {7, 131073},
		{8, UINT32_MAX},   {9, 131071},	     {10, 0x80000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct shape s = good;

		s.words[lies[i].at] = lies[i].v;
		run_shape(&s, EXEC_TRAP);
	}
	for (uint32_t at = 131072 - 51; at < 131072 + 2; at++) {
		struct shape s = good;

		s.result = at;
		if (at == 131072 - 51 || at >= 131072 - 1)
			run_shape(&s, EXEC_TRAP);
	}
}

static void rooms_are_checked(void **state)
{
	struct shape s = good;

	(void)state;
	s.room = 0;
	run_shape(&s, EXEC_MEMORY);
	s.room = ROOM_AT + 1;
	run_shape(&s, EXEC_TRAP);
	s.room = 131072 - 64;
	run_shape(&s, EXEC_TRAP);
	s.room = UINT32_MAX - 3;
	run_shape(&s, EXEC_TRAP);
}

static void what_is_no_image_is_refused(void **state)
{
	static const uint32_t words[] = {0, 2, 131072, UINT32_MAX - 3};
	struct image_request q = request();
	struct image_result r;
	struct wasm m = {0};
	struct jar j;

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct shape s = good;

		s.word = words[i];
		open_shape(&j, &s);
		assert_int_equal(image_prepare(j.x, &j.err), REDOMA_E_INVALID);
		jar_close(&j);
	}
	wasm_memory(&m, 1, -1);
	wasm_export(&m, "memory", 2, 0);
	jar_open(&j, PROFILE_IMAGE, &m, NULL);
	jar_begin(&j, MIB, 0);
	assert_int_equal(image_prepare(j.x, &j.err), REDOMA_E_INVALID);
	assert_int_equal(image_run(j.x, &q, &j.out, &r, &j.err),
			 REDOMA_E_BUSY);
	jar_close(&j);
}

static void a_huge_request_is_refused(void **state)
{
	struct image_request q = request();
	struct image_result r;
	struct jar j;

	(void)state;
	open_shape(&j, &good);
	must(&j, image_prepare(j.x, &j.err));
	q.source_len = (size_t)1 << 30;
	assert_int_equal(image_run(j.x, &q, &j.out, &r, &j.err),
			 REDOMA_E_INVALID);
	q.source_len = SIZE_MAX;
	assert_int_equal(image_run(j.x, &q, &j.out, &r, &j.err),
			 REDOMA_E_INVALID);
	q.source_len = 7;
	q.input_len = ((size_t)1 << 30) - 10;
	assert_int_equal(image_run(j.x, &q, &j.out, &r, &j.err),
			 REDOMA_E_INVALID);
	jar_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_arrives_and_a_result_comes_back),
		cmocka_unit_test(the_interrupt_word_is_where_it_says),
		cmocka_unit_test(lies_are_not_believed),
		cmocka_unit_test(rooms_are_checked),
		cmocka_unit_test(what_is_no_image_is_refused),
		cmocka_unit_test(a_huge_request_is_refused),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Everything that is known after a run becomes one outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/said.h"

static struct run_result result;

static const struct outcome *say(struct said *s)
{
	struct wasi *w = NULL;

	assert_int_equal(wasi_new(NULL, &w, NULL), 0);
	memset(&result, 0, sizeof result);
	if (!s->output_left)
		s->output_left = 100;
	said_outcome(s, w, &result);
	wasi_free(w);
	return &result.outcome;
}

static void assert_text(struct outcome_text t, const char *want)
{
	assert_int_equal(t.len, strlen(want));
	assert_memory_equal(t.p, want, t.len);
}

/* How the engine ended, without anything else. */
static void ends_of_the_engine(void **state)
{
	static const struct {
		enum exec_end end;
		enum deadline_kind deadline;
		bool memory_denied;
		enum redoma_status status;
	} rows[] = {
		{EXEC_DONE, DEADLINE_NONE, false, REDOMA_STATUS_OK},
		{EXEC_INTERRUPT, DEADLINE_WALL, false,
		 REDOMA_STATUS_WALL_LIMIT},
		{EXEC_INTERRUPT, DEADLINE_CPU, false, REDOMA_STATUS_CPU_LIMIT},
		{EXEC_FUEL, DEADLINE_NONE, false, REDOMA_STATUS_FUEL_LIMIT},
		{EXEC_STACK, DEADLINE_NONE, false, REDOMA_STATUS_STACK_LIMIT},
		{EXEC_MEMORY, DEADLINE_NONE, false,
		 REDOMA_STATUS_MEMORY_LIMIT},
		{EXEC_TRAP, DEADLINE_NONE, false, REDOMA_STATUS_TRAP},
		{EXEC_TRAP, DEADLINE_NONE, true, REDOMA_STATUS_MEMORY_LIMIT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct said s = {.exec.end = rows[i].end,
				 .exec.memory_denied = rows[i].memory_denied,
				 .deadline = rows[i].deadline};

		assert_int_equal(say(&s)->status, rows[i].status);
	}
}

static void a_trap_is_told_in_words(void **state)
{
	struct said s = {.exec = {.end = EXEC_TRAP, .text = "unreachable"}};
	const struct outcome *o = say(&s);

	(void)state;
	assert_text(o->name, "Trap");
	assert_text(o->message, "unreachable");
}

/* Why a host function ended the run. */
static void ends_of_the_host(void **state)
{
	static const struct {
		enum wasi_end end;
		enum redoma_status status;
	} rows[] = {
		{WASI_END_OUTPUT, REDOMA_STATUS_OUTPUT_LIMIT},
		{WASI_END_STOP, REDOMA_STATUS_WALL_LIMIT},
		{WASI_END_DENIED, REDOMA_STATUS_DENIED},
		{WASI_END_HOST, REDOMA_STATUS_CRASHED},
		{WASI_END_NONE, REDOMA_STATUS_CRASHED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct said s = {.exec.end = EXEC_HOST,
				 .wasi.end = rows[i].end};

		assert_int_equal(say(&s)->status, rows[i].status);
	}
}

static void exit_codes(void **state)
{
	struct said s = {.exec.end = EXEC_HOST, .wasi.end = WASI_END_EXIT};
	const struct outcome *o = say(&s);

	(void)state;
	assert_int_equal(o->status, REDOMA_STATUS_OK);
	s.wasi.exit_code = 3;
	o = say(&s);
	assert_int_equal(o->status, REDOMA_STATUS_ERROR);
	assert_int_equal(o->exit_code, 3);
	s.exec.memory_denied = true;
	assert_int_equal(say(&s)->status, REDOMA_STATUS_MEMORY_LIMIT);
}

static void answers_of_an_image(void **state)
{
	static const struct {
		enum image_kind kind;
		enum redoma_status status;
	} rows[] = {
		{IMAGE_OK, REDOMA_STATUS_OK},
		{IMAGE_THROWN, REDOMA_STATUS_ERROR},
		{IMAGE_INTERRUPTED, REDOMA_STATUS_CPU_LIMIT},
		{IMAGE_NO_MEMORY, REDOMA_STATUS_MEMORY_LIMIT},
		{IMAGE_STACK, REDOMA_STATUS_STACK_LIMIT},
		{IMAGE_EXIT, REDOMA_STATUS_OK},
		{IMAGE_UNSERIALISABLE, REDOMA_STATUS_ERROR},
		{IMAGE_SYNTAX, REDOMA_STATUS_INVALID},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct said s = {.has_image = true,
				 .image = {.kind = rows[i].kind,
					   .value = {"42", 2},
					   .name = {"E", 1},
					   .message = {"m", 1},
					   .stack = {"at", 2},
					   .line = 3,
					   .column = 4},
				 .deadline = DEADLINE_CPU};
		const struct outcome *o = say(&s);
		bool ok = rows[i].status == REDOMA_STATUS_OK;

		assert_int_equal(o->status, rows[i].status);
		assert_int_equal(result.value.len, ok ? 2 : 0);
		assert_text(o->name, "E");
		assert_text(o->message, "m");
		assert_text(o->stack, "at");
		assert_int_equal(o->line, 3);
		assert_int_equal(o->column, 4);
	}
}

static void an_image_may_exit_with_a_code(void **state)
{
	struct said s = {.has_image = true,
			 .image = {.kind = IMAGE_EXIT, .exit_code = 9}};
	const struct outcome *o = say(&s);

	(void)state;
	assert_int_equal(o->status, REDOMA_STATUS_ERROR);
	assert_int_equal(o->exit_code, 9);
}

static void output_over_its_limit(void **state)
{
	struct said s = {.has_image = true,
			 .image = {.kind = IMAGE_OK, .value = {"12345", 5}},
			 .output_left = 5};

	(void)state;
	assert_int_equal(say(&s)->status, REDOMA_STATUS_OK);
	assert_int_equal(result.value.len, 5);
	s.output_left = 4;
	assert_int_equal(say(&s)->status, REDOMA_STATUS_OUTPUT_LIMIT);
	assert_int_equal(result.value.len, 0);
	s.output_left = 100;
	s.output_over = true;
	assert_int_equal(say(&s)->status, REDOMA_STATUS_OUTPUT_LIMIT);
}

static void denials_and_usage_are_carried(void **state)
{
	struct wasi_denial d[WASI_DENIALS_MAX];
	struct said s = {.exec = {.fuel_used = 1, .memory_bytes = 2},
			 .wasi = {.used_clock = true,
				  .used_unpinned = true,
				  .read_bytes = 3,
				  .written_bytes = 4,
				  .denials = d,
				  .n_denials = WASI_DENIALS_MAX}};
	const struct outcome *o;

	(void)state;
	for (size_t i = 0; i < WASI_DENIALS_MAX; i++)
		d[i] = (struct wasi_denial){"open", "/a\0b", 4, i + 1, i & 1};
	o = say(&s);
	assert_int_equal(o->n_denials, OUTCOME_DENIALS_MAX);
	assert_text(o->denials[1].op, "open");
	assert_int_equal(o->denials[1].path.len, 4);
	assert_int_equal(o->denials[1].count, 2);
	assert_true(o->denials[1].write);
	assert_true(o->used_clock && o->used_unpinned && !o->used_random);
	assert_int_equal(o->fuel, 1);
	assert_int_equal(o->memory_bytes, 2);
	assert_int_equal(o->read_bytes, 3);
	assert_int_equal(o->written_bytes, 4);
}

static void what_cannot_be_run_is_invalid(void **state)
{
	struct redoma_error e = {.text = "no such export"};
	struct outcome o = {0};
	char text[8];

	(void)state;
	said_invalid(&o, &e, text, sizeof text);
	assert_int_equal(o.status, REDOMA_STATUS_INVALID);
	assert_int_equal(o.exit_code, 1);
	assert_text(o.name, "Invalid");
	assert_text(o.message, "no such");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_the_engine),
		cmocka_unit_test(a_trap_is_told_in_words),
		cmocka_unit_test(ends_of_the_host),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(answers_of_an_image),
		cmocka_unit_test(an_image_may_exit_with_a_code),
		cmocka_unit_test(output_over_its_limit),
		cmocka_unit_test(denials_and_usage_are_carried),
		cmocka_unit_test(what_cannot_be_run_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The entry points of the image of formulas: the interpreter with the helpers,
 * and nothing of what makes a program's host; docs/design/formula.md. */
#include <stdlib.h>
#include <string.h>
#include "formula.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define WARM_RUNS 3

void redoma_init(void);
volatile int32_t *redoma_interrupt_ptr(void);
volatile struct formula_count *redoma_rows_ptr(void);
void *redoma_alloc(uint32_t n);
void redoma_free(void *p);
int32_t redoma_run(const char *request, uint32_t len);
int32_t redoma_batch(const char *request, uint32_t len);
struct guest_result *redoma_result(void);

struct guest guest;

static void begin(void)
{
	memset(&guest.result, 0, sizeof(guest.result));
	guest.result.magic = GUEST_RESULT_MAGIC;
}

/* The text as a formula over one row of no columns. */
static void evaluate_alone(const char *text, uint32_t len)
{
	struct formula_head h = { .magic = BATCH_MAGIC, .rows = 1,
				  .formulas = 1 };
	struct formula_words w = { .text = sizeof(h) + sizeof(w),
				   .text_len = len };
	struct guest_span all = { 0, w.text + len };
	char *batch = malloc(all.len);

	if (!batch)
		__builtin_trap();
	memcpy(batch, &h, sizeof(h));
	memcpy(batch + sizeof(h), &w, sizeof(w));
	memcpy(batch + w.text, text, len);
	formula_batch(batch, &all);
}

/* So that what the first batch would set up is set up.  What it leaves is
 * little and stays. */
static void warm_up(void)
{
	static const char *const texts[] = {
		"1+1",
		"(lambda price, qty: price*qty if qty>3 else 0)(1.5, 4)",
		"IF(1 > 2, SUM([1, 2.5]), ROUND(2.345, 2))",
		"IFERROR(1/0, UPPER('a') + TEXT(5, '0.00'))",
		"1/0",
		"nosuch",
		"1 +",
		"DATE(2024, 1, 31) + datetime.timedelta(days=1)",
		"VLOOKUP(2, [[1, 'a'], [2, 'b']], 2, False)",
		"AND(True, OR(0, 'TRUE')) and f'{1:.2f}'",
	};

	for (int k = 0; k < WARM_RUNS; k++)
		for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
			begin();
			evaluate_alone(texts[i], (uint32_t)strlen(texts[i]));
			memset(&table, 0, sizeof(table));
		}
}

/* What lies below the stack pointer is of no use to a run. */
__attribute__((noinline)) static void clear_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	memset((void *)1024, 0, here - 4096);
}

EXPORT(redoma_init) void redoma_init(void)
{
	PyObject *roots;

	start_interpreter();
	warm_up();
	roots = PyObject_CallNoArgs(formula_hook("settle"));
	if (!roots) {
		PyErr_Print();
		__builtin_trap();
	}
	library_drop();
	settle_memory(roots);
	begin();
	guest.oom = false;
	formula_count.row = 0;
	system_start();
	clear_stack();
}

EXPORT(redoma_interrupt_ptr) volatile int32_t *redoma_interrupt_ptr(void)
{
	return poll_word();
}

EXPORT(redoma_rows_ptr) volatile struct formula_count *redoma_rows_ptr(void)
{
	return &formula_count;
}

EXPORT(redoma_alloc) void *redoma_alloc(uint32_t n)
{
	return malloc(n);
}

EXPORT(redoma_free) void redoma_free(void *p)
{
	free(p);
}

EXPORT(redoma_result) struct guest_result *redoma_result(void)
{
	return &guest.result;
}

EXPORT(redoma_run) int32_t redoma_run(const char *request, uint32_t len)
{
	begin();
	if (!request_take(request, len))
		__builtin_trap();
	evaluate_alone(request + guest.request->source.off,
		       guest.request->source.len);
	return guest.result.kind == GUEST_OK ? 0 : 1;
}

EXPORT(redoma_batch) int32_t redoma_batch(const char *request, uint32_t len)
{
	begin();
	if (!request_take(request, len))
		__builtin_trap();
	formula_batch(request, &guest.request->input);
	return guest.result.kind == GUEST_OK ? 0 : 1;
}

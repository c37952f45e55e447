/* The entry points of the image of formulas: the interpreter of the JavaScript
 * image and one realm, which knows formulas alone; docs/design/formula.md. */
#include <stdlib.h>
#include <string.h>
#include "formula.h"
#include "guest.h"
#include "quick.h"
#include "table.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define STACK_BYTES (960 * 1024) /* of the 1 MiB shadow stack */
#define GC_SLACK (4u << 20)

void redoma_init(void);
volatile int32_t *redoma_interrupt_ptr(void);
volatile struct formula_count *redoma_rows_ptr(void);
void *redoma_alloc(uint32_t n);
void redoma_free(void *p);
int32_t redoma_run(const char *request, uint32_t len);
int32_t redoma_batch(const char *request, uint32_t len);
struct guest_result *redoma_result(void);

/* What each run writes lies behind it. */
struct guest guest __attribute__((aligned(4096)));
volatile struct formula_count formula_count;

bool formula_aside;
static uint64_t aside_us;

bool formula_row_over(void)
{
	if (!formula_count.row || formula_count.stop != formula_count.row)
		return false;
	if (!formula_aside || aside_us >= FORMULA_ASIDE_US)
		return true;
	aside_us += table.head.row_us;
	formula_count.row++;
	return false;
}

static int on_poll(JSContext *ctx, void *opaque)
{
	(void)ctx;
	(void)opaque;
	return guest.interrupt || formula_row_over();
}

static int32_t ended(int r)
{
	if (r)
		outcome_error(guest.ctx, true);
	out_flush();
	return guest.result.kind == GUEST_OK ? 0 : 1;
}

/* The text as a formula over one row of no columns. */
static int evaluate_alone(const char *text, uint32_t len)
{
	struct formula_head h = {.magic = BATCH_MAGIC, .rows = 1,
				 .formulas = 1};
	struct formula_words w = {.text = sizeof(h) + sizeof(w),
				  .text_len = len};
	struct guest_span all = {0, w.text + len};
	char *batch = malloc(all.len);

	if (!batch)
		return answer_no_room();
	memcpy(batch, &h, sizeof(h));
	memcpy(batch + sizeof(h), &w, sizeof(w));
	memcpy(batch + w.text, text, len);
	return formula_batch(batch, &all);
}

EXPORT(redoma_init) void redoma_init(void)
{
	guest.hooks = guest.native = JS_UNDEFINED;
	guest.rt = quick_runtime_new(&guest.memory_limit, &guest.oom);
	if (!guest.rt)
		__builtin_trap();
	JS_SetMaxStackSize(guest.rt, STACK_BYTES);
	JS_SetInterruptHandler(guest.rt, on_poll, NULL);
	if (formula_realm_new(guest.rt))
		__builtin_trap();
	guest.ctx = formula_realm.ctx;
	/* So that what the first batch would set up is set up. */
	if (evaluate_alone("1+1", 3))
		__builtin_trap();
	memset(&table, 0, sizeof(table));
	quick_unseed(guest.ctx, clock_fill);
	JS_RunGC(guest.rt);
	quick_gc_slack(guest.rt, GC_SLACK);
	clock_start();
	quick_settle(guest.rt);
	guest.oom = false;
}

EXPORT(redoma_interrupt_ptr) volatile int32_t *redoma_interrupt_ptr(void)
{
	return &guest.interrupt;
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

static bool in_request(const struct guest_span *s, uint32_t len)
{
	return s->off <= len && s->len <= len - s->off;
}

/* The host builds requests, but a wrong one must not become a wild read. */
static const struct guest_request *begin(const char *p, uint32_t len)
{
	const struct guest_request *q = (const struct guest_request *)p;

	memset(&guest.result, 0, sizeof(guest.result));
	guest.result.magic = GUEST_RESULT_MAGIC;
	JS_UpdateStackTop(guest.rt);
	if (len < sizeof(*q) || q->magic != GUEST_REQUEST_MAGIC ||
	    !in_request(&q->source, len) || !in_request(&q->input, len))
		__builtin_trap();
	guest.memory_limit = q->memory_limit;
	return q;
}

EXPORT(redoma_run) int32_t redoma_run(const char *request, uint32_t len)
{
	const struct guest_request *q = begin(request, len);

	return ended(evaluate_alone(request + q->source.off, q->source.len));
}

EXPORT(redoma_batch) int32_t redoma_batch(const char *request, uint32_t len)
{
	const struct guest_request *q = begin(request, len);

	return ended(formula_batch(request, &q->input));
}

#include "engine/image.h"

#include <stdio.h>
#include <string.h>

#include "engine/module.h"
#include "engine/state.h"

#define WHERE "engine"
#define REQUEST_MAGIC 0x31514452u
#define RESULT_MAGIC 0x31524452u
#define REQUEST_MAX ((size_t)1 << 30)
#define FIXED_WORDS 8 /* magic, three spans, memory limit */
#define LISTS 3
#define RC_WAITING 2
#define INPUT_ALIGN ((size_t)8)

struct result_words {
	uint32_t magic, kind;
	int32_t exit_code;
	uint32_t value, value_len;
	uint32_t name, name_len;
	uint32_t message, message_len;
	uint32_t stack, stack_len;
	uint32_t line, column;
};

static int call_i32(struct exec *x, const char *name, uint32_t *ret,
		    struct exec_outcome *out)
{
	wasmtime_val_raw_t v[1];
	wasmtime_func_t f;

	v[0].i32 = (int32_t)*ret;
	if (!exec_func(x, name, &f))
		return -1;
	exec_call(x, &f, v, 1, out);
	*ret = (uint32_t)v[0].i32;
	return out->end == EXEC_DONE ? 0 : -1;
}

/* Images of formulas alone have them. */
static int prepare_rows(struct exec *x, struct redoma_error *err)
{
	struct exec_outcome out;
	uint32_t at = 0;

	if (!module_has(x->e, "redoma_batch", "ii", "i"))
		return 0;
	if (!module_has(x->e, "redoma_rows_ptr", "", "i") ||
	    call_i32(x, "redoma_rows_ptr", &at, &out) || !at || at % 4 ||
	    !exec_span(x, at, 12))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the image has no usable words for rows");
	x->e->rows_at = at;
	return 0;
}

int image_prepare(struct exec *x, struct redoma_error *err)
{
	const struct engine *e = x->e;
	struct exec_outcome out;
	uint32_t at = 0;

	if (!x->has_memory || !module_has(e, "redoma_alloc", "i", "i") ||
	    !module_has(e, "redoma_run", "ii", "i") ||
	    !module_has(e, "redoma_result", "", "i") ||
	    !module_has(e, "redoma_interrupt_ptr", "", "i"))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this module is not a language image");
	if (call_i32(x, "redoma_interrupt_ptr", &at, &out) || !at || at % 4 ||
	    !exec_span(x, at, 4))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the image has no usable interrupt word");
	x->e->interrupt_at = at;
	return prepare_rows(x, err);
}

volatile int32_t *image_interrupt_word(struct exec *x)
{
	return x->e->interrupt_at ? exec_span(x, x->e->interrupt_at, 4) : NULL;
}

volatile uint32_t *image_row_words(struct exec *x)
{
	return x->e->rows_at ? exec_span(x, x->e->rows_at, 12) : NULL;
}

void image_code(const struct exec *x, uintptr_t *ret, uintptr_t *ret_end)
{
	void *from, *end;

	wasmtime_module_image_range(x->e->module, &from, &end);
	*ret = (uintptr_t)from;
	*ret_end = (uintptr_t)end;
}

/* Adds one text and its NUL; false: over REQUEST_MAX. */
static bool add_size(size_t *total, size_t n)
{
	if (n >= REQUEST_MAX || *total > REQUEST_MAX - n - 1)
		return false;
	*total += n + 1;
	return true;
}

static bool add_list(size_t *total, char *const *list, uint32_t *ret_n)
{
	uint32_t n = 0;

	for (; list && list[n]; n++)
		if (!add_size(total, strlen(list[n])))
			return false;
	*ret_n = n;
	return n < REQUEST_MAX / 8;
}

/* Where the parts of a request go. */
struct layout {
	uint32_t argc, envc, toolc;
	size_t text; /* where texts begin */
	size_t len;
};

static bool measure(const struct image_request *q, struct layout *l)
{
	size_t total = 0;

	if (!add_size(&total, q->source_len) ||
	    !add_size(&total, q->input_len) ||
	    !add_size(&total, strlen(q->name)) ||
	    !add_list(&total, q->argv, &l->argc) ||
	    !add_list(&total, q->env, &l->envc) ||
	    !add_list(&total, q->tools, &l->toolc))
		return false;
	l->text = 4 * (FIXED_WORDS + LISTS +
		       2 * ((size_t)l->argc + l->envc + l->toolc));
	if (l->text + INPUT_ALIGN > REQUEST_MAX - total)
		return false;
	l->len = l->text + INPUT_ALIGN + total;
	return true;
}

/* Fills the room in linear memory: words from the front, texts behind. */
struct writer {
	uint8_t *base;
	size_t word, text;
};

static void put_word(struct writer *w, uint32_t v)
{
	memcpy(w->base + w->word, &v, 4);
	w->word += 4;
}

static void put_text(struct writer *w, const void *p, size_t n)
{
	put_word(w, (uint32_t)w->text);
	put_word(w, (uint32_t)n);
	if (n)
		memcpy(w->base + w->text, p, n);
	w->base[w->text + n] = 0;
	w->text += n + 1;
}

static void put_list(struct writer *w, char *const *list, uint32_t n)
{
	put_word(w, n);
	for (uint32_t i = 0; i < n; i++)
		put_text(w, list[i], strlen(list[i]));
}

static void write_request(const struct exec *x, const struct image_request *q,
			  const struct layout *l, void *room)
{
	struct writer w = {.base = room, .text = l->text};
	uint64_t limit = x->limits.memory_bytes;

	put_word(&w, REQUEST_MAGIC);
	put_text(&w, q->source, q->source_len);
	/* The columns of a batch are read where they stand. */
	w.text = (w.text + INPUT_ALIGN - 1) & ~(INPUT_ALIGN - 1);
	put_text(&w, q->input, q->input_len);
	put_text(&w, q->name, strlen(q->name));
	put_word(&w, limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit);
	put_list(&w, q->argv, l->argc);
	put_list(&w, q->env, l->envc);
	put_list(&w, q->tools, l->toolc);
}

static void nonsense(struct exec *x, struct exec_outcome *out)
{
	x->ready = false;
	out->end = EXEC_TRAP;
	snprintf(out->text, sizeof(out->text),
		 "the interpreter's answer makes no sense");
}

static bool take_text(struct exec *x, uint32_t at, uint32_t len,
		      struct image_text *ret)
{
	ret->p = exec_span(x, at, len);
	ret->len = len;
	return ret->p != NULL;
}

static bool read_result(struct exec *x, uint32_t at, struct image_result *res)
{
	struct result_words r;
	const void *p = exec_span(x, at, sizeof(r));

	if (!p)
		return false;
	memcpy(&r, p, sizeof(r));
	if (r.magic != RESULT_MAGIC || r.kind >= IMAGE_KINDS)
		return false;
	res->kind = (enum image_kind)r.kind;
	res->exit_code = r.exit_code;
	res->line = r.line;
	res->column = r.column;
	return take_text(x, r.value, r.value_len, &res->value) &&
	       take_text(x, r.name, r.name_len, &res->name) &&
	       take_text(x, r.message, r.message_len, &res->message) &&
	       take_text(x, r.stack, r.stack_len, &res->stack);
}

/* What it answered: the end, or that it waits. */
static void read_end(struct exec *x, uint32_t rc, struct exec_outcome *out,
		     struct image_result *res)
{
	uint32_t at = 0;

	if (rc == RC_WAITING && module_has(x->e, "redoma_resume", "", "i")) {
		res->kind = IMAGE_WAITING;
		return;
	}
	if (!call_i32(x, "redoma_result", &at, out) &&
	    !read_result(x, at, res))
		nonsense(x, out);
}

static uint32_t call_run(struct exec *x, const char *name, uint32_t at,
			 uint32_t len, struct exec_outcome *out)
{
	wasmtime_val_raw_t v[2];
	wasmtime_func_t f;

	v[0].i32 = (int32_t)at;
	v[1].i32 = (int32_t)len;
	if (exec_func(x, name, &f))
		exec_call(x, &f, v, 2, out);
	return (uint32_t)v[0].i32;
}

int image_run(struct exec *x, const struct image_request *q,
	      struct exec_outcome *out, struct image_result *res,
	      struct redoma_error *err)
{
	struct layout l;
	uint32_t at;
	void *room;

	if (!x->ready || !x->e->interrupt_at)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "the image has no instance to run in");
	if (q->batch && !image_row_words(x))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this image evaluates no formulas");
	if (!measure(q, &l))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "source, input, arguments and environment are "
			       "together over %zu MiB",
			       REQUEST_MAX >> 20);
	at = (uint32_t)l.len;
	if (call_i32(x, "redoma_alloc", &at, out))
		return 0;
	room = exec_span(x, at, (uint32_t)l.len);
	if (!at) {
		out->end = EXEC_MEMORY;
		snprintf(out->text, sizeof(out->text),
			 "source and input do not fit the memory limit");
		return 0;
	}
	if (!room || at % 4) {
		nonsense(x, out);
		return 0;
	}
	write_request(x, q, &l, room);
	at = call_run(x, q->batch ? "redoma_batch" : "redoma_run", at,
		      (uint32_t)l.len, out);
	if (out->end == EXEC_DONE)
		read_end(x, at, out, res);
	return 0;
}

int image_resume(struct exec *x, struct exec_outcome *out,
		 struct image_result *res, struct redoma_error *err)
{
	uint32_t rc = 0;

	if (!x->ready || res->kind != IMAGE_WAITING)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "the image has nothing to go on with");
	if (!call_i32(x, "redoma_resume", &rc, out))
		read_end(x, rc, out, res);
	return 0;
}

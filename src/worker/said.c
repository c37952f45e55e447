#include "worker/said.h"

#include <stdio.h>
#include <string.h>
#include "base/str.h"

static struct outcome_text words(const char *s)
{
	return (struct outcome_text){s, (uint32_t)strlen(s)};
}

static struct outcome_text image_words(struct image_text t)
{
	return (struct outcome_text){t.p, t.len};
}

static uint32_t deadline_status(enum deadline_kind k)
{
	switch (k) {
	case DEADLINE_CPU:
		return REDOMA_STATUS_CPU_LIMIT;
	case DEADLINE_ROW:
		return REDOMA_STATUS_TRAP;
	default:
		return REDOMA_STATUS_WALL_LIMIT;
	}
}

static void from_exit(const struct said *s, struct outcome *o)
{
	o->exit_code = (int32_t)s->wasi.exit_code;
	o->status = o->exit_code ? REDOMA_STATUS_ERROR : REDOMA_STATUS_OK;
	/* A program that gives up when it gets no memory says so with an exit
	 * code, as malloc's callers do. */
	if (o->exit_code && s->exec.memory_denied)
		o->status = REDOMA_STATUS_MEMORY_LIMIT;
}

static void from_wasi(const struct said *s, struct outcome *o)
{
	switch (s->wasi.end) {
	case WASI_END_EXIT:
		from_exit(s, o);
		return;
	case WASI_END_OUTPUT:
		o->status = REDOMA_STATUS_OUTPUT_LIMIT;
		return;
	case WASI_END_STOP:
		o->status = deadline_status(s->deadline);
		return;
	case WASI_END_DENIED:
		o->status = REDOMA_STATUS_DENIED;
		return;
	default:
		o->status = REDOMA_STATUS_CRASHED;
	}
}

static uint32_t image_status(const struct said *s)
{
	switch (s->image.kind) {
	case IMAGE_INTERRUPTED:
		return deadline_status(s->deadline);
	case IMAGE_NO_MEMORY:
		return REDOMA_STATUS_MEMORY_LIMIT;
	case IMAGE_STACK:
		return REDOMA_STATUS_STACK_LIMIT;
	case IMAGE_OK: /* a program may set its exit code and go on */
	case IMAGE_EXIT:
		return s->image.exit_code ? REDOMA_STATUS_ERROR
					  : REDOMA_STATUS_OK;
	case IMAGE_SYNTAX:
		return REDOMA_STATUS_INVALID;
	default:
		return REDOMA_STATUS_ERROR;
	}
}

static void from_image(const struct said *s, struct run_result *ret)
{
	struct outcome *o = &ret->outcome;

	o->status = image_status(s);
	o->exit_code = s->image.exit_code;
	o->name = image_words(s->image.name);
	o->message = image_words(s->image.message);
	o->stack = image_words(s->image.stack);
	o->line = s->image.line;
	o->column = s->image.column;
	if (o->status == REDOMA_STATUS_OK)
		ret->value = image_words(s->image.value);
}

static void from_exec(const struct said *s, struct run_result *ret)
{
	struct outcome *o = &ret->outcome;

	switch (s->exec.end) {
	case EXEC_DONE:
		o->status = REDOMA_STATUS_OK;
		if (s->has_image)
			from_image(s, ret);
		return;
	case EXEC_HOST:
		from_wasi(s, o);
		break;
	case EXEC_INTERRUPT:
		o->status = deadline_status(s->deadline);
		break;
	case EXEC_FUEL:
		o->status = REDOMA_STATUS_FUEL_LIMIT;
		break;
	case EXEC_STACK:
		o->status = REDOMA_STATUS_STACK_LIMIT;
		break;
	case EXEC_MEMORY:
		o->status = REDOMA_STATUS_MEMORY_LIMIT;
		break;
	case EXEC_TRAP:
		o->status = s->exec.memory_denied ? REDOMA_STATUS_MEMORY_LIMIT
						  : REDOMA_STATUS_TRAP;
		break;
	}
	if (s->exec.end != EXEC_HOST && s->exec.text[0]) {
		snprintf(ret->text, sizeof ret->text, "%s", s->exec.text);
		o->name = words("Trap");
		o->message = words(ret->text);
	}
	if (s->deadline == DEADLINE_ROW && o->status == REDOMA_STATUS_TRAP) {
		o->name = words(OUTCOME_ROW_TIME);
		o->message = words("a row took longer than a row may, in a "
				   "function that does not let itself be "
				   "ended");
	}
	o->row = s->row;
}

static void add_denials(const struct said *s, struct outcome *o)
{
	size_t i, n = s->wasi.n_denials;

	if (n > OUTCOME_DENIALS_MAX)
		n = OUTCOME_DENIALS_MAX;
	for (i = 0; i < n; i++) {
		const struct wasi_denial *d = &s->wasi.denials[i];

		o->denials[i] = (struct outcome_denial){
			.op = words(d->op),
			.path = {d->path, (uint32_t)d->path_len},
			.count = d->count,
			.write = d->write};
	}
	o->n_denials = (uint32_t)n;
}

static void add_usage(const struct said *s, struct outcome *o)
{
	o->used_clock = s->wasi.used_clock;
	o->used_random = s->wasi.used_random;
	o->used_unpinned = s->wasi.used_unpinned;
	o->fuel = s->exec.fuel_used;
	o->memory_bytes = s->exec.memory_bytes;
	o->read_bytes = s->wasi.read_bytes;
	o->written_bytes = s->wasi.written_bytes;
}

static void add_written(const struct wasi *w, struct run_result *ret)
{
	const struct wasi_written *list;
	size_t n = wasi_written(w, &list), i;

	for (i = 0; i < n; i++)
		ret->written[i] = (struct outcome_written){
			list[i].grant, list[i].handle, words(list[i].path)};
	ret->outcome.written = ret->written;
	ret->outcome.n_written = (uint32_t)n;
}

/* A run is not ok when what it wrote is not all there. */
static void judge_files(const struct said *s, struct run_result *ret)
{
	static const struct {
		uint32_t status;
		const char *name, *why;
	} rows[] = {
		[WASI_LACKS_BYTES] = {REDOMA_STATUS_DENIED, "Denied",
				      "more than max_bytes was written"},
		[WASI_LACKS_FILES] = {REDOMA_STATUS_DENIED, "Denied",
				      "more than max_files was written"},
		[WASI_LACKS_SPACE] = {REDOMA_STATUS_ERROR, "PublishError",
				      "the host could not keep all that was "
				      "written, as when its disk is full or it "
				      "has no more descriptors"},
	};
	struct outcome *o = &ret->outcome;

	if (o->status != REDOMA_STATUS_OK || !s->wasi.lacks)
		return;
	o->status = rows[s->wasi.lacks].status;
	o->exit_code = 1;
	snprintf(ret->text, sizeof ret->text,
		 "write %s: %s; nothing is published",
		 SHOW(str_of(s->wasi.lacking)), rows[s->wasi.lacks].why);
	o->name = words(rows[s->wasi.lacks].name);
	o->message = words(ret->text);
}

void said_outcome(const struct said *s, const struct wasi *w,
		  struct run_result *ret)
{
	struct outcome *o = &ret->outcome;

	from_exec(s, ret);
	if (s->output_over ||
	    (o->status == REDOMA_STATUS_OK && ret->value.len > s->output_left))
		o->status = REDOMA_STATUS_OUTPUT_LIMIT;
	judge_files(s, ret);
	if (o->status != REDOMA_STATUS_OK)
		ret->value.len = 0;
	add_denials(s, o);
	add_usage(s, o);
	if (o->status == REDOMA_STATUS_OK)
		add_written(w, ret);
}

void said_invalid(struct outcome *o, const struct redoma_error *e, char *text,
		  size_t size)
{
	snprintf(text, size, "%s", e->text);
	o->status = REDOMA_STATUS_INVALID;
	o->exit_code = 1;
	o->name = words("Invalid");
	o->message = words(text);
}

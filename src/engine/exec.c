#include "engine/exec.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/state.h"

#define WHERE "engine"

static const char *const end_names[] = {
	[EXEC_DONE] = "done",	 [EXEC_HOST] = "host",
	[EXEC_TRAP] = "trap",	 [EXEC_INTERRUPT] = "interrupt",
	[EXEC_FUEL] = "fuel",	 [EXEC_STACK] = "stack",
	[EXEC_MEMORY] = "memory",
};

/* Short and without a host's path or address in it. */
static const char *const trap_texts[] = {
	[WASMTIME_TRAP_CODE_STACK_OVERFLOW] = "call stack exhausted",
	[WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS] =
		"out of bounds memory access",
	[WASMTIME_TRAP_CODE_HEAP_MISALIGNED] = "unaligned atomic",
	[WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS] = "undefined table element",
	[WASMTIME_TRAP_CODE_INDIRECT_CALL_TO_NULL] =
		"call of an uninitialised table element",
	[WASMTIME_TRAP_CODE_BAD_SIGNATURE] = "indirect call type mismatch",
	[WASMTIME_TRAP_CODE_INTEGER_OVERFLOW] = "integer overflow",
	[WASMTIME_TRAP_CODE_INTEGER_DIVISION_BY_ZERO] =
		"integer division by zero",
	[WASMTIME_TRAP_CODE_BAD_CONVERSION_TO_INTEGER] =
		"invalid conversion to integer",
	[WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED] =
		"unreachable executed (abort, panic or assertion)",
	[WASMTIME_TRAP_CODE_INTERRUPT] = "interrupted at its deadline",
	[WASMTIME_TRAP_CODE_OUT_OF_FUEL] = "out of fuel",
	[WASMTIME_TRAP_CODE_NULL_REFERENCE] = "null reference",
	[WASMTIME_TRAP_CODE_ALLOCATION_TOO_LARGE] = "allocation too large",
	[WASMTIME_TRAP_CODE_UNCAUGHT_EXCEPTION] = "uncaught exception",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *exec_end_name(enum exec_end end)
{
	return (size_t)end < COUNT(end_names) ? end_names[end] : "unknown";
}

static const char *trap_text(int code)
{
	const char *s = NULL;

	if (code >= 0 && (size_t)code < COUNT(trap_texts))
		s = trap_texts[code];
	return s ? s : "trap";
}

static enum exec_end trap_end(const struct exec_outcome *out)
{
	switch (out->trap) {
	case WASMTIME_TRAP_CODE_STACK_OVERFLOW:
		return EXEC_STACK;
	case WASMTIME_TRAP_CODE_INTERRUPT:
		return EXEC_INTERRUPT;
	case WASMTIME_TRAP_CODE_OUT_OF_FUEL:
		return EXEC_FUEL;
	case WASMTIME_TRAP_CODE_ALLOCATION_TOO_LARGE:
		return EXEC_MEMORY;
	case WASMTIME_TRAP_CODE_UNREACHABLE_CODE_REACHED:
		return out->memory_denied ? EXEC_MEMORY : EXEC_TRAP;
	default:
		return EXEC_TRAP;
	}
}

static void read_trap(struct exec_outcome *out, wasm_trap_t *trap)
{
	wasmtime_trap_code_t code;

	/* An exception that nobody caught is a trap without a code. */
	out->trap = wasmtime_trap_code(trap, &code)
			    ? code
			    : WASMTIME_TRAP_CODE_UNCAUGHT_EXCEPTION;
	wasm_trap_delete(trap);
	out->end = trap_end(out);
	snprintf(out->text, sizeof(out->text), "%s",
		 out->end == EXEC_MEMORY ? "out of memory"
					 : trap_text(out->trap));
}

static void read_usage(const struct exec *x, struct exec_outcome *out)
{
	uint64_t left = 0;

	out->memory_denied = x->limiter.memory_denied;
	out->memory_bytes = x->limiter.memory_peak;
	if (!x->limits.fuel)
		return;
	/* It fails only if fuel is off, which exec_begin refused. */
	if (wasmtime_context_get_fuel(x->ctx, &left))
		return;
	out->fuel_used = x->limits.fuel - left;
}

static void finish(struct exec *x, struct exec_outcome *out, wasm_trap_t *trap,
		   wasmtime_error_t *error)
{
	out->end = EXEC_DONE;
	out->trap = -1;
	out->text[0] = 0;
	read_usage(x, out);
	if (trap) {
		read_trap(out, trap);
	} else if (error) {
		out->end = EXEC_HOST;
		engine_error_text(error, out->text, sizeof(out->text));
	}
}

void exec_free(struct exec *x)
{
	if (!x)
		return;
	exec_reset(x);
	free(x);
}

static bool stopped(const struct exec *x)
{
	return x->stop && *x->stop;
}

static int check_limits(const struct exec *x, const struct exec_limits *l,
			struct redoma_error *err)
{
	bool fuel = profile_has_fuel(x->e->profile);

	if (x->store && !x->ahead)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "there is an instance already");
	if (!l->memory_bytes || l->memory_bytes > ENGINE_MEMORY_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "memory limit of %llu bytes: it must be between "
			       "1 and %llu",
			       (unsigned long long)l->memory_bytes,
			       (unsigned long long)ENGINE_MEMORY_MAX);
	if (fuel != (l->fuel > 0))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       fuel ? "this profile needs a fuel limit"
				    : "this profile does not count fuel");
	return 0;
}

static void limit(struct exec *x)
{
	wasmtime_error_t *error = NULL;

	x->limiter.memory_bytes = x->limits.memory_bytes;
	if (profile_has_fuel(x->e->profile))
		error = wasmtime_context_set_fuel(x->ctx, x->limits.fuel);
	if (error)
		wasmtime_error_delete(error);
}

/* The deadline comes before the look at *stop: a signal after it moves the
 * epoch past the deadline, one before it set *stop. */
static void arm(struct exec *x, uint64_t epochs)
{
	x->limiter = (struct rd_limiter){
		.table_elements = ENGINE_TABLE_ELEMENTS * ENGINE_TABLES,
		.instances = 1,
		.tables = ENGINE_TABLES,
		.memories = 1,
	};
	rd_store_limiter(x->store, &x->limiter);
	if (profile_has_epoch(x->e->profile))
		wasmtime_context_set_epoch_deadline(x->ctx, epochs);
	limit(x);
}

static void interrupted(struct exec *x, struct exec_outcome *out)
{
	finish(x, out, NULL, NULL);
	out->end = EXEC_INTERRUPT;
	out->trap = WASMTIME_TRAP_CODE_INTERRUPT;
	snprintf(out->text, sizeof(out->text), "%s", trap_text(out->trap));
}

static void bind_memory(struct exec *x)
{
	wasmtime_extern_t item;

	x->has_memory = false;
	if (!wasmtime_instance_export_get(x->ctx, &x->instance, "memory", 6,
					  &item))
		return;
	if (item.kind == WASMTIME_EXTERN_MEMORY) {
		x->memory = item.of.memory;
		x->has_memory = true;
		if (x->e->wasi)
			wasi_bind(x->e->wasi, x->ctx, &x->memory);
	} else {
		wasmtime_extern_delete(&item);
	}
}

/* Instantiation failed without a trap: its own demands are over the limits, or
 * a host function ended its start function, or the engine failed; the last two
 * look alike here and the caller tells them apart by wasi_end. */
static int not_instantiated(struct exec *x, struct exec_outcome *out,
			    struct redoma_error *err)
{
	if (x->limiter.memory_denied || x->limiter.table_denied) {
		out->end = EXEC_MEMORY;
		snprintf(out->text, sizeof(out->text),
			 "its initial %s is over the limit",
			 x->limiter.memory_denied ? "memory" : "table");
		return 0;
	}
	if (x->e->wasi)
		return 0;
	return err_set(err, REDOMA_E_WORKER, WHERE, "cannot instantiate: %s",
		       out->text);
}

/* Segments are copied by the code that also calls the start function. */
static bool is_outside(const struct exec_outcome *out)
{
	return out->trap == WASMTIME_TRAP_CODE_MEMORY_OUT_OF_BOUNDS ||
	       out->trap == WASMTIME_TRAP_CODE_TABLE_OUT_OF_BOUNDS;
}

static int begin(struct exec *x, uint64_t epochs, struct exec_outcome *out,
		 struct redoma_error *err)
{
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;
	bool failed;

	x->store = wasmtime_store_new(x->e->wasm, NULL, NULL);
	x->ctx = wasmtime_store_context(x->store);
	arm(x, epochs);
	if (stopped(x)) {
		interrupted(x, out);
		return 0;
	}
	error = wasmtime_instance_pre_instantiate(x->e->pre, x->ctx,
						  &x->instance, &trap);
	failed = error != NULL;
	finish(x, out, trap, error);
	if (failed)
		return not_instantiated(x, out, err);
	if (is_outside(out))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module cannot be set up: its data, its "
			       "elements or its start function reach outside "
			       "its memory or table");
	x->ready = out->end == EXEC_DONE;
	if (x->ready)
		bind_memory(x);
	return 0;
}

/* A deadline that has passed ends a start function at its entry. */
static void warm(struct exec *x)
{
	struct exec_outcome out;

	x->limits = (struct exec_limits){
		.memory_bytes = ENGINE_MEMORY_MAX,
		.fuel = profile_has_fuel(x->e->profile) ? 1 : 0,
	};
	(void)!begin(x, 0, &out, NULL);
	exec_reset(x);
}

int exec_new(struct engine *e, const volatile sig_atomic_t *stop,
	     struct exec **ret, struct redoma_error *err)
{
	struct exec *x;

	if (!e->pre)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "the module is not linked yet");
	x = calloc(1, sizeof(*x));
	if (!x)
		return err_nomem(err, WHERE);
	x->e = e;
	if (profile_has_epoch(e->profile))
		warm(x);
	x->stop = stop;
	*ret = x;
	return 0;
}

void exec_ahead(struct exec *x)
{
	struct exec_outcome out;

	if (!profile_is_image(x->e->profile) || x->store || stopped(x))
		return;
	x->limits = (struct exec_limits){ENGINE_MEMORY_MAX,
					 profile_has_fuel(x->e->profile)};
	x->ahead = !begin(x, 0, &out, NULL) && x->ready;
	if (!x->ahead)
		exec_reset(x);
}

/* False: the instance that was made ahead does not fit these limits. */
static bool adopt(struct exec *x, struct exec_outcome *out)
{
	if (x->limiter.memory_peak > x->limits.memory_bytes)
		return false;
	limit(x);
	if (profile_has_epoch(x->e->profile))
		wasmtime_context_set_epoch_deadline(x->ctx, 1);
	x->ready = !stopped(x);
	if (!x->ready) {
		interrupted(x, out);
		return true;
	}
	if (x->e->wasi && x->has_memory)
		wasi_bind(x->e->wasi, x->ctx, &x->memory);
	finish(x, out, NULL, NULL);
	return true;
}

int exec_begin(struct exec *x, const struct exec_limits *l,
	       struct exec_outcome *out, struct redoma_error *err)
{
	int rc = check_limits(x, l, err);

	if (rc)
		return rc;
	x->limits = *l;
	if (x->ahead && adopt(x, out)) {
		x->ahead = false;
		return 0;
	}
	exec_reset(x);
	rc = begin(x, 1, out, err);
	if (rc)
		exec_reset(x);
	return rc;
}

void exec_reset(struct exec *x)
{
	if (!x->store)
		return;
	wasmtime_store_delete(x->store);
	x->store = NULL;
	x->ahead = false;
	x->ready = false;
	x->has_memory = false;
}

uint8_t *exec_memory(struct exec *x, size_t *ret_size)
{
	*ret_size = 0;
	if (!x->has_memory)
		return NULL;
	*ret_size = wasmtime_memory_data_size(x->ctx, &x->memory);
	return wasmtime_memory_data(x->ctx, &x->memory);
}

void *exec_span(struct exec *x, uint32_t at, uint32_t len)
{
	size_t size;
	uint8_t *base = exec_memory(x, &size);

	return base && at <= size && len <= size - at ? base + at : NULL;
}

bool exec_func(struct exec *x, const char *name, wasmtime_func_t *ret)
{
	wasmtime_extern_t item;

	if (!x->ready ||
	    !wasmtime_instance_export_get(x->ctx, &x->instance, name,
					  strlen(name), &item))
		return false;
	if (item.kind != WASMTIME_EXTERN_FUNC) {
		wasmtime_extern_delete(&item);
		return false;
	}
	*ret = item.of.func;
	return true;
}

void exec_call(struct exec *x, const wasmtime_func_t *f,
	       wasmtime_val_raw_t *values, size_t n, struct exec_outcome *out)
{
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error =
		wasmtime_func_call_unchecked(x->ctx, f, values, n, &trap);

	finish(x, out, trap, error);
	if (out->end != EXEC_DONE)
		x->ready = false;
}

int exec_start(struct exec *x, struct exec_outcome *out,
	       struct redoma_error *err)
{
	wasmtime_val_raw_t none[1];
	wasmtime_func_t f;

	if (!x->e->has_start || !exec_func(x, "_start", &f))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no command entry (_start)");
	exec_call(x, &f, none, 0, out);
	return 0;
}

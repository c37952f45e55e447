#include "engine/setup.h"

#include <string.h>

#include "engine/module.h"
#include "engine/state.h"

#define WHERE "engine"

static int call(struct exec *x, const char *name, int32_t a[2],
		struct exec_outcome *out, struct redoma_error *err)
{
	wasmtime_val_raw_t v[2];
	wasmtime_func_t f;

	if (!exec_func(x, name, &f))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module has no function \"%s\"", name);
	v[0].i32 = a[0];
	v[1].i32 = a[1];
	exec_call(x, &f, v, 2, out);
	a[0] = v[0].i32;
	return 0;
}

static int put_text(struct exec *x, struct str text, int32_t *ret_at,
		    struct exec_outcome *out, struct redoma_error *err)
{
	int32_t a[2] = {(int32_t)text.len, 0};
	int r = call(x, "host_alloc", a, out, err);
	void *room;

	if (r || out->end != EXEC_DONE)
		return r;
	room = exec_span(x, (uint32_t)a[0], (uint32_t)text.len);
	if (!a[0] || !room)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module has no room for its set-up");
	memcpy(room, text.p, text.len);
	*ret_at = a[0];
	return 0;
}

int setup_run(struct exec *x, struct str text, int32_t *ret_status,
	      struct exec_outcome *out, struct redoma_error *err)
{
	int32_t before[2] = {0, 0}, after[2] = {0, 0}, a[2] = {0, 0};
	int r;

	if (!module_has(x->e, "host_alloc", "i", "i") ||
	    !module_has(x->e, "turn", "ii", "i") ||
	    !module_has(x->e, "redoma_stack", "", "i"))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module cannot be set up as an image");
	r = call(x, "redoma_stack", before, out, err);
	if (!r)
		r = put_text(x, text, &a[0], out, err);
	a[1] = (int32_t)text.len;
	if (!r && out->end == EXEC_DONE)
		r = call(x, "turn", a, out, err);
	if (r || out->end != EXEC_DONE)
		return r;
	*ret_status = a[0];
	r = call(x, "redoma_stack", after, out, err);
	if (!r && before[0] != after[0])
		r = err_set(err, REDOMA_E_INVALID, WHERE,
			    "the stack pointer is not back at its start after "
			    "the set-up");
	return r;
}

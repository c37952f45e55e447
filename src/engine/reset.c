#include "engine/reset.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/state.h"

#define WHERE "engine"
#define ITEMS_MAX 256
#define PAGE 65536u

struct reset {
	uint8_t *bytes;
	size_t len;
	uint64_t reach; /* largest memory seen */
	size_t n_items;
	uint64_t items[ITEMS_MAX][2]; /* globals' values, tables' sizes */
};

static void read_item(struct exec *x, const wasmtime_extern_t *item,
		      uint64_t ret[2])
{
	wasmtime_val_t v;

	ret[0] = ret[1] = 0;
	if (item->kind == WASMTIME_EXTERN_TABLE) {
		ret[0] = wasmtime_table_size(x->ctx, &item->of.table);
	} else if (item->kind == WASMTIME_EXTERN_GLOBAL) {
		wasmtime_global_get(x->ctx, &item->of.global, &v);
		/* References have no bits that could be compared. */
		if (v.kind == WASMTIME_I32 || v.kind == WASMTIME_F32)
			memcpy(ret, &v.of, 4);
		else if (v.kind == WASMTIME_I64 || v.kind == WASMTIME_F64)
			memcpy(ret, &v.of, 8);
		else if (v.kind == WASMTIME_V128)
			memcpy(ret, &v.of, 16);
		wasmtime_val_unroot(&v);
	}
}

static size_t read_items(struct exec *x, uint64_t items[ITEMS_MAX][2])
{
	wasmtime_extern_t item;
	size_t n = 0, len;
	char *name;

	for (size_t i = 0; n < ITEMS_MAX &&
	     wasmtime_instance_export_nth(x->ctx, &x->instance, i, &name, &len,
					  &item);
	     i++) {
		if (item.kind == WASMTIME_EXTERN_TABLE ||
		    item.kind == WASMTIME_EXTERN_GLOBAL)
			read_item(x, &item, items[n++]);
		wasmtime_extern_delete(&item);
	}
	return n;
}

int reset_remember(struct exec *x, struct reset **ret, struct redoma_error *err)
{
	struct reset *r;
	size_t size;
	const uint8_t *base = exec_memory(x, &size);

	if (!x->ready)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "there is no instance to remember");
	r = calloc(1, sizeof(*r));
	if (!r)
		return err_nomem(err, WHERE);
	r->len = size;
	r->bytes = malloc(size ? size : 1);
	if (!r->bytes) {
		free(r);
		return err_nomem(err, WHERE);
	}
	if (size)
		memcpy(r->bytes, base, size);
	r->n_items = read_items(x, r->items);
	*ret = r;
	return 0;
}

void reset_free(struct reset *r)
{
	if (!r)
		return;
	free(r->bytes);
	free(r);
}

/* As far as any instance reached; false: it could not grow so far. */
static bool grow_to(struct exec *x, uint64_t reach)
{
	wasmtime_error_t *error;
	uint64_t before;
	size_t size;

	exec_memory(x, &size);
	if (reach <= size)
		return true;
	error = wasmtime_memory_grow(x->ctx, &x->memory, (reach - size) / PAGE,
				     &before);
	if (error)
		wasmtime_error_delete(error);
	return !error;
}

static uint64_t compare_memory(struct exec *x, const struct reset *r)
{
	uint64_t wrong = 0;
	size_t size;
	const uint8_t *base = exec_memory(x, &size);

	for (size_t i = 0; i < size; i++)
		wrong += base[i] != (i < r->len ? r->bytes[i] : 0);
	return wrong;
}

static uint64_t compare_items(struct exec *x, const struct reset *r)
{
	uint64_t items[ITEMS_MAX][2] = {0}, wrong = 0;
	size_t n = read_items(x, items);

	if (n != r->n_items)
		return 8;
	for (size_t i = 0; i < n; i++)
		wrong += 8 * (memcmp(items[i], r->items[i], 16) != 0);
	return wrong;
}

int reset_verify(struct exec *x, struct reset *r, uint64_t *ret_wrong,
		 struct redoma_error *err)
{
	struct exec_limits l = x->limits;
	struct exec_outcome out;
	size_t size;
	int rc;

	exec_memory(x, &size);
	if (size > r->reach)
		r->reach = size;
	exec_reset(x);
	rc = exec_begin(x, &l, &out, err);
	if (rc)
		return rc;
	exec_memory(x, &size);
	if (out.end != EXEC_DONE || size < r->len ||
	    (x->has_memory && !grow_to(x, r->reach)))
		return err_set(err, REDOMA_E_WORKER, WHERE,
			       "the instance to compare did not begin: %s",
			       exec_end_name(out.end));
	*ret_wrong = (size > r->len ? size - r->len : 0) +
		     compare_memory(x, r) + compare_items(x, r);
	return 0;
}

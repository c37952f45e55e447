#include "wasi/calls.h"

#include <stdio.h>
#include <string.h>

#define MODULE "wasi_snapshot_preview1"
#define TOOL_MODULE "redoma"

#define ROW(name, params) {#name, params, true, call_##name}

const struct call_row call_rows[WASI_CALLS] = {
	ROW(args_get, "ii"),
	ROW(args_sizes_get, "ii"),
	ROW(environ_get, "ii"),
	ROW(environ_sizes_get, "ii"),
	ROW(clock_res_get, "ii"),
	ROW(clock_time_get, "iIi"),
	ROW(fd_advise, "iIIi"),
	ROW(fd_allocate, "iII"),
	ROW(fd_close, "i"),
	ROW(fd_datasync, "i"),
	ROW(fd_fdstat_get, "ii"),
	ROW(fd_fdstat_set_flags, "ii"),
	ROW(fd_fdstat_set_rights, "iII"),
	ROW(fd_filestat_get, "ii"),
	ROW(fd_filestat_set_size, "iI"),
	ROW(fd_filestat_set_times, "iIIi"),
	ROW(fd_pread, "iiiIi"),
	ROW(fd_prestat_get, "ii"),
	ROW(fd_prestat_dir_name, "iii"),
	ROW(fd_pwrite, "iiiIi"),
	ROW(fd_read, "iiii"),
	ROW(fd_readdir, "iiiIi"),
	ROW(fd_renumber, "ii"),
	ROW(fd_seek, "iIii"),
	ROW(fd_sync, "i"),
	ROW(fd_tell, "ii"),
	ROW(fd_write, "iiii"),
	ROW(path_create_directory, "iii"),
	ROW(path_filestat_get, "iiiii"),
	ROW(path_filestat_set_times, "iiiiIIi"),
	ROW(path_link, "iiiiiii"),
	ROW(path_open, "iiiiiIIii"),
	ROW(path_readlink, "iiiiii"),
	ROW(path_remove_directory, "iii"),
	ROW(path_rename, "iiiiii"),
	ROW(path_symlink, "iiiii"),
	ROW(path_unlink_file, "iii"),
	ROW(poll_oneoff, "iiii"),
	{"proc_exit", "i", false, call_proc_exit},
	ROW(sched_yield, ""),
	ROW(random_get, "ii"),
	ROW(sock_accept, "iii"),
	ROW(sock_recv, "iiiiii"),
	ROW(sock_send, "iiiii"),
	ROW(sock_shutdown, "ii"),
};

#define PARAMS_MAX 9

/* The memory as it is now: it may have grown, or moved, since the last call.
 * A caller without a memory has none, so that every pointer is a fault. */
static struct guest memory_of(struct wasi *w, wasmtime_caller_t *caller)
{
	wasmtime_context_t *ctx = wasmtime_caller_context(caller);
	wasmtime_memory_t memory = w->memory;

	if (!w->bound) {
		wasmtime_extern_t item;

		if (!wasmtime_caller_export_get(caller, "memory", 6, &item))
			return (struct guest){0};
		if (item.kind != WASMTIME_EXTERN_MEMORY) {
			wasmtime_extern_delete(&item);
			return (struct guest){0};
		}
		memory = item.of.memory;
	}
	return (struct guest){
		wasmtime_memory_data(ctx, &memory),
		wasmtime_memory_data_size(ctx, &memory),
	};
}

static wasm_trap_t *trap_for(const struct wasi *w)
{
	static const char *const why[] = {
		[WASI_END_NONE] = "ended",
		[WASI_END_EXIT] = "exit",
		[WASI_END_OUTPUT] = "output limit",
		[WASI_END_STOP] = "deadline",
		[WASI_END_DENIED] = "denied",
		[WASI_END_HOST] = "lost the core",
	};
	const char *text = why[w->report.end];

	return wasmtime_trap_new(text, strlen(text));
}

/* A language image gathers lines and writes them when it ends, a deadline
 * included: writing goes on, bounded by the output limit and by the core, which
 * kills who does not end.  Nothing else does. */
static bool is_over(struct wasi *w, const struct call_row *row)
{
	return row->fn != call_fd_write && wasi_stopped(w);
}

static wasm_trap_t *enter(void *env, wasmtime_caller_t *caller,
			  wasmtime_val_raw_t *a, size_t n)
{
	struct wasi_entry *e = env;
	struct wasi *w = e->wasi;
	uint32_t result;

	(void)n;
	if (!w->plan || is_over(w, e->row)) {
		/* A call outside of a run, as of an image being made. */
		if (!w->plan)
			w->report.end = WASI_END_HOST;
		return trap_for(w);
	}
	struct guest g = memory_of(w, caller);
	result = e->row->fn(w, &g, a);
	if (w->report.end != WASI_END_NONE)
		return trap_for(w);
	if (e->row->has_result)
		a[0].i32 = (int32_t)result;
	return NULL;
}

static wasm_functype_t *type_of(const struct call_row *row)
{
	wasm_valtype_t *types[PARAMS_MAX], *result = NULL;
	wasm_valtype_vec_t params, results;
	size_t n = strlen(row->params);

	for (size_t i = 0; i < n; i++)
		types[i] = wasm_valtype_new(row->params[i] == 'I' ? WASM_I64
								  : WASM_I32);
	wasm_valtype_vec_new(&params, n, types);
	if (row->has_result)
		result = wasm_valtype_new(WASM_I32);
	wasm_valtype_vec_new(&results, row->has_result, &result);
	return wasm_functype_new(&params, &results);
}

static int link_row(struct wasi_entry *e, const char *module,
		    wasmtime_linker_t *l, struct redoma_error *err)
{
	wasm_functype_t *type = type_of(e->row);
	wasmtime_error_t *bad = wasmtime_linker_define_func_unchecked(
		l, module, strlen(module), e->row->name, strlen(e->row->name),
		type, enter, e, NULL);

	wasm_functype_delete(type);
	if (!bad)
		return 0;
	wasmtime_error_delete(bad);
	return err_set(err, REDOMA_E_SYSTEM, "wasi",
		       "%s cannot be defined; link a linker once only",
		       e->row->name);
}

int wasi_link(struct wasi *w, wasmtime_linker_t *l, struct redoma_error *err)
{
	int r = 0;

	for (size_t i = 0; i < WASI_CALLS && !r; i++) {
		w->entries[i] = (struct wasi_entry){w, &call_rows[i]};
		r = link_row(&w->entries[i], MODULE, l, err);
	}
	for (size_t i = 0; i < WASI_TOOL_CALLS && !r; i++) {
		struct wasi_entry *e = &w->entries[WASI_CALLS + i];

		*e = (struct wasi_entry){w, &tool_rows[i]};
		r = link_row(e, TOOL_MODULE, l, err);
	}
	return r;
}

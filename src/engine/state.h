/* engine/state.h - what the files of this floor share; nobody else's. */
#ifndef ENGINE_STATE_H
#define ENGINE_STATE_H

#include <redoma_engine.h>
#include <wasmtime.h>
#include "engine/engine.h"
#include "engine/exec.h"
#include "wasi/wasi.h"

struct engine {
	wasm_engine_t *wasm;
	wasmtime_module_t *module;    /* NULL: nothing loaded */
	wasmtime_linker_t *linker;    /* NULL: not linked */
	wasmtime_instance_pre_t *pre; /* NULL: not linked */
	struct wasi *wasi;	      /* borrowed; NULL: none */
	enum profile profile;
	int pagemap_fd; /* borrowed from Wasmtime */
	bool fast_reset;
	bool has_start; /* exports _start () -> () */
	bool has_init;  /* exports _initialize () -> () */
	uint32_t interrupt_at; /* of an image; 0: not prepared */
	uint32_t rows_at;      /* likewise; 0: it knows no formulas */
};

struct exec {
	struct engine *e;		   /* borrowed */
	const volatile sig_atomic_t *stop; /* borrowed; may be NULL */
	wasmtime_store_t *store;	   /* NULL: reset */
	wasmtime_context_t *ctx;
	wasmtime_instance_t instance;
	wasmtime_memory_t memory;
	bool has_memory, ready; /* ready: instantiated without a trap */
	bool ahead;		/* of an exec_begin that has yet to come */
	struct exec_limits limits;
	struct rd_limiter limiter;
};

/* The host's address of len bytes of linear memory at `at`, or NULL if they are
 * not all inside. */
void *exec_span(struct exec *x, uint32_t at, uint32_t len);
/* An exported function of the instance. */
bool exec_func(struct exec *x, const char *name, wasmtime_func_t *ret);
/* Calls it; `n` is the larger of the numbers of parameters and results.
 * out->end says how it ended. */
void exec_call(struct exec *x, const wasmtime_func_t *f,
	       wasmtime_val_raw_t *values, size_t n, struct exec_outcome *out);

/* engine_new with another file in place of /proc/swaps, for tests. */
MUST_CHECK int engine_new_with(enum profile p, const char *swaps,
			       struct engine **ret, struct redoma_error *err);
/* Consumes e; its text on one line, cut to fit, control characters gone. */
void engine_error_text(wasmtime_error_t *e, char *text, size_t size);
/* The same into err: "what: text".  Returns code. */
int engine_error(struct redoma_error *err, enum redoma_code code,
		 const char *what, wasmtime_error_t *e);

#endif

/* redoma_engine.h - what the C API of Wasmtime 48 lacks (engine-rs/src/lib.rs).
 * Include after, or with, <wasmtime.h>. */
#ifndef REDOMA_ENGINE_H
#define REDOMA_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

/* Whether traps collect a backtrace (20 frames).  Off saves time. */
void rd_config_backtrace(wasm_config_t *c, bool on);
/* Must be at least max_wasm_stack, or wasm_engine_new_with_config aborts, even
 * though no asynchronous stack is ever made.  Default 2 MiB. */
void rd_config_async_stack(wasm_config_t *c, size_t bytes);
/* Switches one WebAssembly proposal by its name, such as "extended-const",
 * "legacy-exceptions", "threads", "shared-everything-threads",
 * "memory-control", "component-model" or any that has a setter of its own.
 * False: this version knows no such name.  Turning on what this build cannot
 * do makes wasm_engine_new_with_config abort. */
bool rd_config_feature(wasm_config_t *c, const char *name, bool on);

/* What an engine really is, defaults included.
 *
 * Proposals are bits: those of one name (0: there is none; a name may stand for
 * several), all that this version knows, and those that are on. */
uint64_t rd_feature_bits(const char *name);
uint64_t rd_features_known(void);
uint64_t rd_engine_features(const wasm_engine_t *e);
/* A setting as a number (a flag is 0 or 1, WASMTIME_OPT_LEVEL_* its value) by
 * the name of its setter with dashes, such as "max-wasm-stack"; those of the
 * pool begin with "pool-".  False, and *ret untouched: this engine has none of
 * that name (a pool's, or the compiler's, if it has no such part). */
bool rd_engine_number(const wasm_engine_t *e, const char *name, uint64_t *ret);

/* Compiles a module to an artefact that wasmtime_module_deserialize takes,
 * without loading it: no executable memory is mapped, unlike in
 * wasmtime_module_new followed by wasmtime_module_serialize.  *ret is owned by
 * the caller (wasm_byte_vec_delete) and untouched on failure.  Only in the
 * archive that has the compiler. */
wasmtime_error_t *rd_precompile(const wasm_engine_t *e, const uint8_t *wasm,
				size_t len, wasm_byte_vec_t *ret);

/* Reset of pooled memories: on, only pages that were written are put back, told
 * by the PAGEMAP_SCAN ioctl(2) (Linux 6.7); off, a fixed prefix is copied. */
void rd_pool_pagemap_scan(wasmtime_pooling_allocation_config_t *p, bool on);
/* Whether this kernel has PAGEMAP_SCAN and lets this process use it. */
bool rd_pagemap_available(void);

/* A store's limits and what it uses: the caller fills in the limits, leaves the
 * rest 0, and reads the counters at any time. */
struct rd_limiter {
	uint64_t memory_bytes;	 /* limit: all linear memories together, with
				    the heap of garbage-collected objects */
	uint64_t table_elements; /* limit: all tables together */
	uint64_t memory_now, memory_peak; /* bytes */
	uint64_t table_now;		  /* elements */
	/* How often a growth was refused, by the limits above or by the system.
	 * The guest saw -1; at instantiation it is an error.  A growth over
	 * what the module itself declared does not count. */
	uint32_t memory_denied, table_denied;
	uint32_t instances, tables, memories; /* limits: how many */
	uint32_t unused;
};

/* Puts the store under *l, which is borrowed and must stay in place until the
 * store is deleted.  The numbers of instances, tables and memories are read
 * here, all else whenever something grows. */
void rd_store_limiter(wasmtime_store_t *s, struct rd_limiter *l);

#endif

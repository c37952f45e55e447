/* engine/config.h - every setting of the engine as a row of one table.
 *
 * An engine is only made from these rows: by config_engine, which sets each,
 * makes the engine, and reads each back from it.  A row that this Wasmtime does
 * not know, a setting that the engine does not report as its row says, and a
 * WebAssembly proposal without a row are faults of this program, found by
 * whoever changes it: they abort with a sentence on standard error.  Wasmtime
 * itself aborts on what it cannot do. */
#ifndef ENGINE_CONFIG_H
#define ENGINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <redoma_engine.h>
#include <wasmtime.h>
#include "engine/cpu.h"
#include "policy/profile.h"

struct config_row {
	/* As rd_feature_bits or rd_engine_number know it. */
	const char *name;
	enum { CONFIG_ALWAYS, CONFIG_BY_PROFILE, CONFIG_BY_RESET,
	       CONFIG_BY_HASTE } by;
	uint64_t value[PROFILES]; /* BY_RESET: copy, scan; BY_HASTE:
				     good code, soon */
	/* At most one: how it is set.  None: it is Wasmtime's default and what
	 * we build on, so only read back. */
	bool feature; /* rd_config_feature */
	bool unread;  /* the library cannot say what it is */
	void (*flag)(wasm_config_t *c, bool on);
	void (*size)(wasm_config_t *c, size_t n);
	void (*pool_flag)(wasmtime_pooling_allocation_config_t *p, bool on);
	void (*pool_size)(wasmtime_pooling_allocation_config_t *p, size_t n);
	void (*pool_count)(wasmtime_pooling_allocation_config_t *p, uint32_t n);
};

struct config_choice;

struct config_table {
	const struct config_row *rows;
	size_t n;
	bool pooled; /* what the engine makes comes from a pool */
	/* For which CPU it compiles; NULL: it does not.  False: it cannot. */
	bool (*aim)(wasm_config_t *c, const struct config_choice *how);
};

#define CONFIG_ROWS(a) .rows = (a), .n = sizeof(a) / sizeof(*(a))

/* Of every engine; of one that runs guests; of one that compiles (in
 * engine/compile.c, since only the full library has these setters). */
extern const struct config_table config_common, config_pool, config_compiler;

struct config_choice {
	enum profile profile;
	bool scan; /* resets are told by PAGEMAP_SCAN */
	bool quick; /* to compile: soon, whatever the code is like */
	const struct cpu *cpu; /* to compile for; NULL: this one */
};

uint64_t config_value(const struct config_row *r,
		      const struct config_choice *how);
/* An engine of config_common and of `part`; the caller deletes it.  Does not
 * return if that is impossible. */
wasm_engine_t *config_engine(const struct config_table *part,
			     const struct config_choice *how);
/* The same of any two tables, so that a test can give it a wrong one. */
wasm_engine_t *config_build(const struct config_table *const both[2],
			    const struct config_choice *how);

#endif

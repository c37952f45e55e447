#include "engine/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/engine.h"

#define KEEP_SCAN ((size_t)8 << 20) /* at most so much is copied back */
#define KEEP_COPY ((size_t)1 << 20) /* always so much is copied back */
#define KEEP_TABLE ((size_t)64 << 10)
#define ASYNC_SLACK ((size_t)64 << 10) /* the stack limit must be below it */
#define INSTANCE_BYTES ((uint64_t)1 << 20)
#define GUARD_BYTES ((uint64_t)32 << 20)

#define ALWAYS(v) .by = CONFIG_ALWAYS, .value = {(v)}
#define BY_PROFILE(...) .by = CONFIG_BY_PROFILE, .value = {__VA_ARGS__}
#define BY_RESET(copy, scan) .by = CONFIG_BY_RESET, .value = {(copy), (scan)}

#define ON(proposal) {proposal, ALWAYS(1), .feature = true}
#define OFF(proposal) {proposal, ALWAYS(0), .feature = true}
#define SET(name) .flag = wasmtime_config_##name##_set
#define SIZE(name) .size = wasmtime_config_##name##_set
#define POOL(kind, name)                                                       \
	.pool_##kind = wasmtime_pooling_allocation_config_##name##_set

static const struct config_row common[] = {
	ON("mutable-global"),
	ON("saturating-float-to-int"),
	ON("sign-extension"),
	ON("reference-types"),
	ON("call-indirect-overlong"),
	ON("multi-value"),
	ON("bulk-memory"),
	ON("bulk-memory-opt"),
	ON("simd"),
	ON("floats"),
	ON("extended-const"),
	ON("exceptions"),
	ON("gc-types"), /* no proposal: the types that exceptions are */
	OFF("gc"),
	OFF("function-references"),
	OFF("tail-call"),
	OFF("relaxed-simd"),
	OFF("multi-memory"),
	OFF("memory64"),
	OFF("memory-control"),
	OFF("custom-page-sizes"),
	OFF("custom-descriptors"),
	OFF("compact-imports"),
	OFF("wide-arithmetic"),
	OFF("legacy-exceptions"),
	OFF("stack-switching"),
	OFF("threads"),
	OFF("shared-everything-threads"),
	OFF("component-model"),
	OFF("cm-values"),
	OFF("cm-nested-names"),
	OFF("cm-async"),
	OFF("cm-async-stackful"),
	OFF("cm-more-async-builtins"),
	OFF("cm-threading"),
	OFF("cm-error-context"),
	OFF("cm-fixed-length-lists"),
	OFF("cm-gc"),
	OFF("cm-map"),
	OFF("cm64"),
	OFF("cm-implements"),
	OFF("cm-canon-names"),
	/* image, image-fuel, module, module-fuel, image-epoch */
	{"epoch-interruption", BY_PROFILE(0, 0, 1, 1, 1),
	 SET(epoch_interruption)},
	{"consume-fuel", BY_PROFILE(0, 1, 0, 1, 0), SET(consume_fuel)},
	{"shared-memory", ALWAYS(0), SET(shared_memory)},
	{"memory-may-move", ALWAYS(0), SET(memory_may_move)},
	{"memory-init-cow", ALWAYS(1), SET(memory_init_cow)},
	{"signals-based-traps", ALWAYS(1), SET(signals_based_traps)},
	{"memory-reservation", ALWAYS(ENGINE_MEMORY_MAX),
	 SIZE(memory_reservation)},
	/* Half of it for an image of a user's: an artefact of the profile
	 * "module" has all else in common with it, and must not load. */
	{"memory-guard-size",
	 BY_PROFILE(GUARD_BYTES, GUARD_BYTES, GUARD_BYTES, GUARD_BYTES,
		    GUARD_BYTES / 2),
	 SIZE(memory_guard_size)},
	{"guard-before-memory", ALWAYS(1)},
	{"max-wasm-stack", ALWAYS(ENGINE_STACK_BYTES), SIZE(max_wasm_stack)},
	{"async-stack-size", ALWAYS(ENGINE_STACK_BYTES + ASYNC_SLACK),
	 .size = rd_config_async_stack},
	{"backtrace-frames", ALWAYS(0), .flag = rd_config_backtrace},
	{"guest-debug", ALWAYS(0)},
	/* Inlining doubles an artefact and makes nothing faster. */
	{"table-lazy-init", ALWAYS(1)},
	{"inlining", ALWAYS(0)},
};
const struct config_table config_common = {CONFIG_ROWS(common)};

static const struct config_row pool[] = {
	{"pool-core-instances", ALWAYS(1), POOL(count, total_core_instances)},
	/* What a module's functions and exports take; wanted by the data image,
	 * which does not load with less. */
	{"pool-core-instance-size",
	 BY_PROFILE(INSTANCE_BYTES, INSTANCE_BYTES, INSTANCE_BYTES,
		    INSTANCE_BYTES, 4 * INSTANCE_BYTES),
	 POOL(size, max_core_instance_size), .unread = true},
	/* The second is the heap that exceptions live in. */
	{"pool-memories", ALWAYS(2), POOL(count, total_memories)},
	{"pool-memories-per-module", ALWAYS(1),
	 POOL(count, max_memories_per_module)},
	{"pool-tables", ALWAYS(ENGINE_TABLES), POOL(count, total_tables)},
	{"pool-tables-per-module", ALWAYS(ENGINE_TABLES),
	 POOL(count, max_tables_per_module)},
	{"pool-gc-heaps", ALWAYS(1), POOL(count, total_gc_heaps)},
	{"pool-unused-warm-slots", ALWAYS(2),
	 POOL(count, max_unused_warm_slots)},
	{"pool-decommit-batch", ALWAYS(1), POOL(size, decommit_batch_size)},
	{"pool-memory-size", ALWAYS(ENGINE_MEMORY_MAX),
	 POOL(size, max_memory_size)},
	{"pool-table-elements", ALWAYS(ENGINE_TABLE_ELEMENTS),
	 POOL(size, table_elements)},
	{"pool-table-keep-resident", ALWAYS(KEEP_TABLE),
	 POOL(size, table_keep_resident)},
	{"pool-memory-keep-resident", BY_RESET(KEEP_COPY, KEEP_SCAN),
	 POOL(size, linear_memory_keep_resident)},
	{"pool-pagemap-scan", BY_RESET(0, 1),
	 .pool_flag = rd_pool_pagemap_scan},
	{"pool-protection-keys", ALWAYS(0)},
};
const struct config_table config_pool = {CONFIG_ROWS(pool), .pooled = true};

/* Nobody could act on an error: the same bytes do it to everyone, at once. */
__attribute__((noreturn, format(printf, 1, 2))) static void
impossible(const char *format, ...)
{
	va_list args;

	fputs("redoma: the engine's settings are wrong: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

uint64_t config_value(const struct config_row *r,
		      const struct config_choice *how)
{
	switch (r->by) {
	case CONFIG_BY_PROFILE:
		return r->value[how->profile];
	case CONFIG_BY_RESET:
		return r->value[how->scan];
	case CONFIG_BY_HASTE:
		return r->value[how->quick];
	default:
		return r->value[0];
	}
}

static void set_row(wasm_config_t *c, wasmtime_pooling_allocation_config_t *p,
		    const struct config_row *r, uint64_t v)
{
	if (r->feature && !rd_config_feature(c, r->name, v != 0))
		impossible("this Wasmtime knows no proposal \"%s\"", r->name);
	if (r->flag)
		r->flag(c, v != 0);
	if (r->size)
		r->size(c, v);
	if (r->pool_flag)
		r->pool_flag(p, v != 0);
	if (r->pool_size)
		r->pool_size(p, v);
	if (r->pool_count)
		r->pool_count(p, (uint32_t)v);
}

static wasm_engine_t *make(const struct config_table *const part[2],
			   const struct config_choice *how)
{
	wasm_config_t *c = wasm_config_new();
	wasmtime_pooling_allocation_config_t *p =
		wasmtime_pooling_allocation_config_new();

	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < part[t]->n; i++)
			set_row(c, p, &part[t]->rows[i],
				config_value(&part[t]->rows[i], how));
	if (part[1]->aim && !part[1]->aim(c, how))
		impossible("this Wasmtime cannot compile for \"%s\"",
			   how->cpu ? how->cpu->name : "native");
	if (part[1]->pooled)
		wasmtime_pooling_allocation_strategy_set(c, p);
	wasmtime_pooling_allocation_config_delete(p);
	return wasm_engine_new_with_config(c);
}

static void check_number(const wasm_engine_t *e, const struct config_row *r,
			 uint64_t want)
{
	uint64_t is;

	if (!rd_engine_number(e, r->name, &is))
		impossible("this Wasmtime has no setting \"%s\"", r->name);
	if (is != want)
		impossible("\"%s\" is %" PRIu64 " and must be %" PRIu64,
			   r->name, is, want);
}

/* Returns the bits of the row's proposal. */
static uint64_t check_feature(const wasm_engine_t *e,
			      const struct config_row *r, uint64_t want)
{
	uint64_t bits = rd_feature_bits(r->name);

	if ((rd_engine_features(e) & bits) != (want ? bits : 0))
		impossible("the proposal \"%s\" must be %s", r->name,
			   want ? "on" : "off");
	return bits;
}

wasm_engine_t *config_build(const struct config_table *const both[2],
			    const struct config_choice *how)
{
	wasm_engine_t *e = make(both, how);
	uint64_t seen = 0;

	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < both[t]->n; i++) {
			const struct config_row *r = &both[t]->rows[i];
			uint64_t want = config_value(r, how);

			if (r->feature)
				seen |= check_feature(e, r, want);
			else if (!r->unread)
				check_number(e, r, want);
		}
	if (rd_features_known() & ~seen)
		impossible("proposals without a row: bits %" PRIx64,
			   rd_features_known() & ~seen);
	return e;
}

wasm_engine_t *config_engine(const struct config_table *part,
			     const struct config_choice *how)
{
	const struct config_table *const both[2] = {&config_common, part};

	return config_build(both, how);
}

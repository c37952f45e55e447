#include "engine/engine.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <redoma_engine.h>

#include "base/cleanup.h"
#include "engine/state.h"

#define WHERE "engine"
#define KEEP_SCAN ((size_t)8 << 20) /* at most so much is copied back */
#define KEEP_COPY ((size_t)1 << 20) /* always so much is copied back */
#define KEEP_TABLE ((size_t)64 << 10)
#define ASYNC_SLACK ((size_t)64 << 10) /* the stack limit must be below it */

const char *engine_version(void)
{
	return "wasmtime " WASMTIME_VERSION;
}

/* Proposals of WebAssembly: the whole list, so that none is on by a default
 * that changes with the version. */
static void set_proposals(wasm_config_t *c)
{
	static const char *const off[] = {
		"threads", "shared-everything-threads", "legacy-exceptions",
		"memory-control", "stack-switching", "custom-descriptors",
		"compact-imports", "component-model",
	};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		rd_config_feature(c, off[i], false);
	wasmtime_config_wasm_simd_set(c, true);
	wasmtime_config_wasm_bulk_memory_set(c, true);
	wasmtime_config_wasm_multi_value_set(c, true);
	wasmtime_config_wasm_reference_types_set(c, true);
	wasmtime_config_wasm_exceptions_set(c, true);
	wasmtime_config_wasm_tail_call_set(c, false);
	wasmtime_config_wasm_function_references_set(c, false);
	wasmtime_config_wasm_gc_set(c, false);
	wasmtime_config_wasm_relaxed_simd_set(c, false);
	wasmtime_config_wasm_multi_memory_set(c, false);
	wasmtime_config_wasm_memory64_set(c, false);
	wasmtime_config_wasm_wide_arithmetic_set(c, false);
	wasmtime_config_wasm_custom_page_sizes_set(c, false);
	wasmtime_config_shared_memory_set(c, false);
}

wasm_config_t *engine_config(enum profile p)
{
	wasm_config_t *c = wasm_config_new();

	set_proposals(c);
	wasmtime_config_epoch_interruption_set(c, profile_has_epoch(p));
	wasmtime_config_consume_fuel_set(c, profile_has_fuel(p));
	wasmtime_config_native_unwind_info_set(c, false);
	wasmtime_config_memory_may_move_set(c, false);
	wasmtime_config_memory_init_cow_set(c, true);
	wasmtime_config_signals_based_traps_set(c, true);
	wasmtime_config_memory_reservation_set(c, ENGINE_MEMORY_MAX);
	wasmtime_config_memory_guard_size_set(c, (uint64_t)32 << 20);
	rd_config_backtrace(c, false);
	rd_config_async_stack(c, ENGINE_STACK_BYTES + ASYNC_SLACK);
	wasmtime_config_max_wasm_stack_set(c, ENGINE_STACK_BYTES);
	return c;
}

/* /proc/swaps is a header and a line for each swap area; if it cannot be read
 * there may be swap. */
static bool swap_is_off(void)
{
	char text[512];
	CLEANUP_FD int fd = open("/proc/swaps", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	const char *line = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;

	return line && line + 1 == text + n;
}

static void set_pool(wasm_config_t *c, bool scan)
{
	wasmtime_pooling_allocation_config_t *p =
		wasmtime_pooling_allocation_config_new();

	wasmtime_pooling_allocation_config_total_core_instances_set(p, 1);
	/* The second memory is the heap that exceptions live in. */
	wasmtime_pooling_allocation_config_total_memories_set(p, 2);
	wasmtime_pooling_allocation_config_total_tables_set(p, ENGINE_TABLES);
	wasmtime_pooling_allocation_config_max_tables_per_module_set(
		p, ENGINE_TABLES);
	wasmtime_pooling_allocation_config_max_unused_warm_slots_set(p, 2);
	wasmtime_pooling_allocation_config_max_memory_size_set(
		p, ENGINE_MEMORY_MAX);
	wasmtime_pooling_allocation_config_table_elements_set(
		p, ENGINE_TABLE_ELEMENTS);
	wasmtime_pooling_allocation_config_table_keep_resident_set(p,
								   KEEP_TABLE);
	wasmtime_pooling_allocation_config_linear_memory_keep_resident_set(
		p, scan ? KEEP_SCAN : KEEP_COPY);
	rd_pool_pagemap_scan(p, scan);
	wasmtime_pooling_allocation_strategy_set(c, p);
	wasmtime_pooling_allocation_config_delete(p);
}

static int reserve_stack(struct redoma_error *err)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l))
		return err_sys(err, WHERE, "read the stack limit");
	if (l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= ENGINE_STACK_LIMIT)
		return 0;
	if (l.rlim_max != RLIM_INFINITY && l.rlim_max < ENGINE_STACK_LIMIT)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the hard stack limit is %llu KiB and guests "
			       "need %llu; raise it (ulimit -Hs)",
			       (unsigned long long)l.rlim_max >> 10,
			       (unsigned long long)ENGINE_STACK_LIMIT >> 10);
	l.rlim_cur = ENGINE_STACK_LIMIT;
	if (setrlimit(RLIMIT_STACK, &l))
		return err_sys(err, WHERE, "raise the stack limit");
	return 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Wasmtime opens it once a process and tells nobody. */
static int find_pagemap(void)
{
	CLEANUP(close_dir) DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	char target[64];

	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target,
				       sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = 0;
		if (!strncmp(target, "/proc/", 6) &&
		    !strcmp(target + n - (n < 8 ? 0 : 8), "/pagemap"))
			return atoi(e->d_name);
	}
	return -1;
}

int engine_new(enum profile profile, struct engine **ret,
	       struct redoma_error *err)
{
	struct engine *e;
	wasm_config_t *c;
	int rc;

	if (profile >= PROFILES)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no such profile: %d", (int)profile);
	rc = reserve_stack(err);
	if (rc)
		return rc;
	e = calloc(1, sizeof(*e));
	if (!e)
		return err_nomem(err, WHERE);
	e->profile = profile;
	e->fast_reset = rd_pagemap_available() && swap_is_off();
	c = engine_config(profile);
	set_pool(c, e->fast_reset);
	e->wasm = wasm_engine_new_with_config(c);
	e->pagemap_fd = find_pagemap();
	*ret = e;
	return 0;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	if (e->pre)
		wasmtime_instance_pre_delete(e->pre);
	if (e->linker)
		wasmtime_linker_delete(e->linker);
	if (e->module)
		wasmtime_module_delete(e->module);
	if (e->wasm)
		wasm_engine_delete(e->wasm);
	free(e);
}

void engine_interrupt(struct engine *e)
{
	wasmtime_engine_increment_epoch(e->wasm);
}

bool engine_fast_reset(const struct engine *e)
{
	return e->fast_reset;
}

int engine_pagemap_fd(const struct engine *e)
{
	return e->pagemap_fd;
}

void engine_error_text(wasmtime_error_t *e, char *text, size_t size)
{
	wasm_byte_vec_t m;
	size_t at = 0;

	wasmtime_error_message(e, &m);
	wasmtime_error_delete(e);
	for (size_t i = 0; i < m.size && at + 1 < size; i++) {
		unsigned char ch = (unsigned char)m.data[i];

		if (ch == '\n' || ch == ' ' || iscntrl(ch)) {
			if (at && text[at - 1] != ' ')
				text[at++] = ' ';
			continue;
		}
		text[at++] = (char)ch;
	}
	while (at && text[at - 1] == ' ')
		at--;
	text[at] = 0;
	wasm_byte_vec_delete(&m);
}

int engine_error(struct redoma_error *err, enum redoma_code code,
		 const char *what, wasmtime_error_t *e)
{
	char text[200];

	engine_error_text(e, text, sizeof(text));
	return err_set(err, code, WHERE, "%s: %s", what, text);
}

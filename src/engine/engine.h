/* engine/engine.h - wall 1: Wasmtime behind a checked table of settings.
 *
 * Invalid settings cannot be expressed: the only input is a profile, and all
 * settings are rows that are checked when an engine is made (engine/config.h).
 * One engine a process. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "policy/profile.h"

#define ENGINE_MEMORY_MAX ((uint64_t)4 << 30) /* largest limits.memory */

struct engine; /* engine + module + imports, made once */

/* What guest code may use of the native stack.  Run it on the main thread:
 * engine_new raises the soft RLIMIT_STACK to ENGINE_STACK_LIMIT for that. */
#define ENGINE_STACK_BYTES ((size_t)32 << 20)
#define ENGINE_STACK_LIMIT ((uint64_t)40 << 20)
/* Per table.  An element costs 8 bytes of address space, memory only if it is
 * touched. */
#define ENGINE_TABLE_ELEMENTS 131072u
#define ENGINE_TABLES 4u

/* An engine that loads and runs artefacts; it cannot compile.
 * REDOMA_E_UNSUPPORTED: the hard RLIMIT_STACK is below ENGINE_STACK_LIMIT. */
MUST_CHECK int engine_new(enum profile profile, struct engine **ret,
			  struct redoma_error *err);
/* "wasmtime 48.0.8" */
const char *engine_version(void);
void engine_free(struct engine *e);
/* Async-signal-safe: makes running guest code of an epoch profile trap. */
void engine_interrupt(struct engine *e);
/* True if resets copy dirty pages (PAGEMAP_SCAN), false if they copy the
 * lowest MiB and fault on the rest.  The fast way is used only if the kernel
 * has it and the machine has no swap when the engine is made: its scan does
 * not see dirty pages that were swapped out. */
bool engine_fast_reset(const struct engine *e);
/* The descriptor of /proc/self/pagemap that the engine keeps, or -1; a forked
 * child must put its own there (see worker/renew.h). */
int engine_pagemap_fd(const struct engine *e);

#endif

/* engine/engine.h - wall 1: Wasmtime behind a checked table of settings.
 *
 * Invalid settings cannot be expressed: wasm_engine_new_with_config aborts on
 * them, so the only input is a profile and each profile is a row that a unit
 * test builds.  One engine a process. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>
#include "base/buf.h"
#include "base/err.h"
#include "wasi/wasi.h"

/* How guest code is compiled.  An artefact loads only into the same row. */
enum engine_profile {
	ENGINE_IMAGE,	   /* language image: no interruption code */
	ENGINE_IMAGE_FUEL, /* the same, counting fuel */
	ENGINE_MODULE,	   /* any .wasm: epoch checks */
	ENGINE_MODULE_FUEL,
	ENGINE_PROFILES
};

#define ENGINE_MEMORY_MAX ((uint64_t)4 << 30) /* largest limits.memory */

struct engine;	/* engine + module + linker, made once */
struct exec;	/* one instance */

/* `compile`: the engine of the compiler process (no pool). */
MUST_CHECK int engine_new(enum engine_profile profile, bool compile,
			  struct engine **ret, struct redoma_error *err);
void engine_free(struct engine *e);
const char *engine_profile_name(enum engine_profile p);
/* Async-signal-safe: makes running guest code of an epoch profile trap. */
void engine_interrupt(struct engine *e);
/* True if resets copy dirty pages (PAGEMAP_SCAN), false if they fault. */
bool engine_fast_reset(const struct engine *e);
/* The descriptor of /proc/self/pagemap that the engine keeps, or -1; a forked
 * child must put its own there (see worker/renew.h). */
int engine_pagemap_fd(const struct engine *e);

#endif

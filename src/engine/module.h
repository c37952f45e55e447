/* engine/module.h - an artefact becomes something that can run.
 *
 * This is the only place that hands bytes to the engine's loader.  The loader
 * trusts them: a hostile artefact is code execution.  So call it only with an
 * image of the install directory, with one that was compiled from the .wasm
 * there and whose MAC the core has checked, or, inside all walls, with the
 * artefact of a foreign module whose MAC the core has checked. */
#ifndef ENGINE_MODULE_H
#define ENGINE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include "engine/engine.h"

struct wasi;

/* Each loads one module; an engine takes only one.
 * REDOMA_E_INVALID: not an artefact, or of another version, profile or CPU.
 *
 * A CPU that lacks what the code uses is found out before any of it can run.
 *
 * From a file, which is mapped: its code and initial memory are shared by all
 * processes that load it.  `fd` is borrowed and may be closed afterwards; /proc
 * must be there.  The text of REDOMA_E_INVALID goes on from the file's name
 * ("needs avx512f, which this CPU lacks"); another file may then be tried. */
MUST_CHECK int module_load_file(struct engine *e, int fd,
				struct redoma_error *err);
/* From bytes, which are copied. */
MUST_CHECK int module_load_bytes(struct engine *e, const void *p, size_t n,
				 struct redoma_error *err);

/* Resolves the imports, once, after loading.  `w` is borrowed for the engine's
 * life; NULL: nothing can be imported.  REDOMA_E_INVALID: one error lists every
 * import that is not there (as many as fit, and how many more). */
MUST_CHECK int module_link(struct engine *e, struct wasi *w,
			   struct redoma_error *err);

/* Can it be run?  `invoke` NULL asks for a command: an export _start without
 * parameters.  Otherwise an export of that name which is a function and takes
 * n_args numbers.  REDOMA_E_INVALID names what is wrong and which exports there
 * are. */
MUST_CHECK int module_entry(const struct engine *e, const char *invoke,
			    size_t n_args, struct redoma_error *err);
/* What its exported memory has when an instance begins, in bytes. */
uint64_t module_memory_bytes(const struct engine *e);
/* True if it exports a function of that name and type; a type is a string of
 * i I f F for i32 i64 f32 f64. */
bool module_has(const struct engine *e, const char *name, const char *params,
		const char *results);

#endif

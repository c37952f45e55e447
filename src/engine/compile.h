/* engine/compile.h - WebAssembly in, artefact out.  Needs an engine library
 * with Cranelift: only the compiler process and tests link this file. */
#ifndef ENGINE_COMPILE_H
#define ENGINE_COMPILE_H

#include <stddef.h>
#include "base/buf.h"
#include "engine/engine.h"

#define COMPILE_INPUT_MAX ((size_t)64 << 20)
#define COMPILE_OUTPUT_MAX ((size_t)256 << 20)

/* Inspects, validates and compiles on this thread; appends the artefact to
 * `out`.  REDOMA_E_INVALID: the bytes are no module that can run here; the text
 * names the reason and the feature it needs. */
MUST_CHECK int compile_module_bytes(enum profile profile,
				    const void *wasm, size_t len,
				    struct buf *out, struct redoma_error *err);

#endif

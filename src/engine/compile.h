/* engine/compile.h - WebAssembly in, artefact out.  Needs an engine library
 * with Cranelift: only the compiler process and tests link this file. */
#ifndef ENGINE_COMPILE_H
#define ENGINE_COMPILE_H

#include <stddef.h>
#include "base/buf.h"
#include "base/str.h"
#include "engine/cpu.h"
#include "engine/engine.h"

#define COMPILE_INPUT_MAX ((size_t)64 << 20)
#define COMPILE_OUTPUT_MAX ((size_t)256 << 20)

/* Inspects, validates and compiles on this thread; appends the artefact to
 * `out`.  REDOMA_E_INVALID: the bytes are no module that can run here; the text
 * names the reason and the feature it needs. */
MUST_CHECK int compile_module_bytes(enum profile profile,
				    const void *wasm, size_t len,
				    struct buf *out, struct redoma_error *err);

/* The same for another CPU than this one (NULL: for this one).  A CPU that
 * lacks what the code uses refuses to load it. */
MUST_CHECK int compile_for_cpu(enum profile profile, const struct cpu *cpu,
			       struct str wasm, struct buf *out,
			       struct redoma_error *err);

/* The same for this CPU, of a module that is known byte for byte, so without a
 * limit of its size.  `quick`: soon, whatever the code is like. */
MUST_CHECK int compile_known(enum profile profile, bool quick, struct str wasm,
			     struct buf *out, struct redoma_error *err);

#endif

/* engine/inspect.h - what a file is, before the compiler sees it, and which
 * feature a refused module needs.
 *
 * Proposals that are on: everything of WebAssembly 2.0 (SIMD, bulk memory,
 * reference types, multi-value, sign extension, saturating conversions), and of
 * 3.0 extended constant expressions and exceptions.  Off: threads and shared
 * memory, 64-bit memory, several memories, garbage-collected types, function
 * references, tail calls, relaxed SIMD, legacy exceptions, custom page sizes,
 * wide arithmetic, stack switching, memory control, custom descriptors,
 * components.
 *
 * Source: WebAssembly core specification 3.0, section 5.5 (binary modules);
 * component model, Binary.md (preamble). */
#ifndef ENGINE_INSPECT_H
#define ENGINE_INSPECT_H

#include <stddef.h>
#include "base/err.h"

/* Header and the table of sections: magic, version, component or module, size
 * at most COMPILE_INPUT_MAX, every section inside the file.  REDOMA_E_INVALID
 * with one sentence and what to do. */
MUST_CHECK int inspect_module(const void *wasm, size_t len,
			      struct redoma_error *err);

/* The feature that a validator's message is about, or NULL; static text. */
const char *inspect_feature(const char *message);

#endif

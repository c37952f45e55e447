/* freeze/emit.h - a module whose memory is what a set-up left. */
#ifndef FREEZE_EMIT_H
#define FREEZE_EMIT_H

#include <stddef.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Appends the module that `wasm` is, but that its memory starts as these bytes,
 * a multiple of a page. */
MUST_CHECK int emit_module(struct str wasm, const void *memory, size_t len,
			   struct buf *out, struct redoma_error *err);

#endif

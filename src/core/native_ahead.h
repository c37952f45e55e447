/* core/native_ahead.h - packages that take long to import: an interpreter that
 * waits for a source which names one has imported it already. */
#ifndef CORE_NATIVE_AHEAD_H
#define CORE_NATIVE_AHEAD_H

#include <stddef.h>
#include <stdint.h>

/* The packages, "a,b", that a source of that language seems to need and that
 * fit its memory; "": none.  Static.  It is a guess: one too many costs a
 * little memory, one too few some time, and one that fails no run. */
const char *native_ahead(const char *language, const void *source, size_t len,
			 uint64_t memory_bytes);

#endif

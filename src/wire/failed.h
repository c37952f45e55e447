/* wire/failed.h - the body of FRAME_FAILED: one struct redoma_error, as it
 * lies in memory.  A worker sends it before the guest runs, but one that has
 * turned can send it at any time: nothing in it is believed. */
#ifndef WIRE_FAILED_H
#define WIRE_FAILED_H

#include <stddef.h>
#include "base/err.h"

/* Fills err with what the peer says and returns its code, which is below zero
 * whatever came: REDOMA_E_WORKER in place of a code that there is not. */
MUST_CHECK int failed_read(const void *body, size_t len,
			   struct redoma_error *err);

#endif

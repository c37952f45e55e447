/* freeze/dress.h - gives a module that was built elsewhere the exports of a
 * language image (engine/image.h).
 *
 * Functions are added behind those that there are, and one page of memory
 * behind what it has, so nothing of the module is renumbered or moved.  In that
 * page, the mailbox, redoma_run puts its two arguments at 8 and 12 and then
 * lets the module's own `turn` run a line of Python that lies at 64;
 * redoma_result is the address that stands at 16.  The interrupt word, at 0,
 * is read by nobody: such a module is ended by epoch checks.
 *
 * The host function that the module asks for, (host, call), becomes
 * (redoma, ask).  Names of functions and other custom sections are dropped. */
#ifndef FREEZE_DRESS_H
#define FREEZE_DRESS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define DRESS_AT 8
#define DRESS_LEN 12
#define DRESS_RESULT 16
#define DRESS_LINE 64

/* Appends the new module; *ret_mail is the mailbox's address.
 * REDOMA_E_INVALID: the module lacks one of host_alloc, turn, memory, or
 * something in it but memory and its stack pointer could change. */
MUST_CHECK int dress_module(struct str wasm, struct str line, struct buf *out,
			    uint32_t *ret_mail, struct redoma_error *err);

#endif

/* broker/handle.h - what a worker may name by number. */
#ifndef BROKER_HANDLE_H
#define BROKER_HANDLE_H

#include "broker/sealed.h"

/* Takes fd (-1: the grant's own).  0, or a positive errno: EMFILE when the
 * run has limits.files open for reading, EDQUOT when it has SEAL_FILES_MAX
 * stages; fd then stays the caller's. */
MUST_CHECK int handle_new(struct sealed *s, uint32_t grant, int fd, bool stage,
			  uint64_t *ret_number);
/* Borrowed until the next handle_new, or NULL: no such handle. */
struct handle *handle_find(struct sealed *s, uint64_t number);
void handle_drop(struct sealed *s, struct handle *h);

#endif

/* broker/list.h - directories in bounded pieces. */
#ifndef BROKER_LIST_H
#define BROKER_LIST_H

#include <stdint.h>
#include <sys/types.h>
#include "base/str.h"
#include "wire/call.h"

enum call_type list_type(mode_t mode);
/* The next entries from position `at` on, as CALL_LIST has them, into out
 * (CALL_DATA_MAX bytes); *ret_next is 0 at the end.  Positions are those of
 * the file system: they stay valid while entries come and go.  0 or a
 * positive errno. */
int list_read(int fd, uint64_t at, char *out, struct str *ret,
	      uint64_t *ret_next);

#endif

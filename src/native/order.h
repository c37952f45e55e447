/* native/order.h - what a payload is told that waits to become the program: the
 * program's arguments and environment, its bounds, and the places it may write
 * to.  It crosses a pipe, from init to the child that init forked before it
 * knew. */
#ifndef NATIVE_ORDER_H
#define NATIVE_ORDER_H

#include "base/err.h"
#include "native/payload.h"

struct order {
	struct native_payload lock; /* without descriptors */
	char **argv, **env;	    /* owned, as all that follows */
	char **places;
	char *text;
};

/* In init.  A child that has died is no error: its death tells. */
MUST_CHECK int order_send(int fd, const struct payload_start *s,
			  struct redoma_error *err);
/* In the child; waits.  -1: there is none (errno), and nothing is owned. */
MUST_CHECK int order_take(int fd, struct order *ret);

#endif

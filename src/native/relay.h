/* native/relay.h - calls of tools between a bootstrap and the core: init passes
 * them on, so that one socket of the payload is enough and the core hears the
 * same frames as from a worker.
 *
 * What comes from the payload is hostile.  A number that is not the next, a
 * call without a name, or one more than may be under way breaks the payload's
 * conversation, and never ours with the core.  Of answers one at a time is
 * here, until the payload has taken it; more wait in the core's socket. */
#ifndef NATIVE_RELAY_H
#define NATIVE_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "native/boot.h"
#include "native/pump.h"
#include "wire/frame.h"

struct relay {
	struct channel *channel; /* to the core; all borrowed */
	struct boot *boot;
	struct pump *pump; /* what was printed before a call leaves before it */
	uint64_t in_flight;
	uint32_t last; /* number of the last call */
	uint64_t under_way;
	struct buf part; /* of an answer that comes in several frames */
	struct redoma_error failed; /* code not 0: the core is gone */
};

/* `call` of struct boot; data is the relay. */
int relay_call(void *data, const void *p, size_t n);
/* True if an answer could be passed on now. */
bool relay_listens(const struct relay *r);
/* True if relay_answers has something to do without anything new to read. */
bool relay_heard(const struct relay *r);
/* Puts the answers that are here, as far as relay_listens. */
MUST_CHECK int relay_answers(struct relay *r, struct redoma_error *err);
void relay_done(struct relay *r);

#endif

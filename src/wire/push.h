/* wire/push.h - the end of a conversation that must not wait for the other: it
 * sends what the other takes now, and waits for that and for more at once. */
#ifndef WIRE_PUSH_H
#define WIRE_PUSH_H

#include "wire/frame.h"

/* Sends of what was put as much as the other side takes at once; the rest
 * stays, in order, for the next push or channel_flush. */
MUST_CHECK int channel_push(struct channel *c, struct redoma_error *err);
/* True if a whole frame is here, so that channel_recv does not wait. */
bool channel_heard(const struct channel *c);
/* Waits until a frame can be heard, the rest of a push can be sent, wake_fd can
 * be read (and then is), or the time is over: whatever comes first.
 * *ret_heard: something can be received, be it the end. */
MUST_CHECK int channel_wait(struct channel *c, int wake_fd, uint64_t timeout_us,
			    bool *ret_heard, struct redoma_error *err);

#endif

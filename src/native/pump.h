/* native/pump.h - what a native program prints becomes frames, counted against
 * limits.output; its input is fed to it.  Nothing here waits. */
#ifndef NATIVE_PUMP_H
#define NATIVE_PUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "wire/frame.h"

/* Of one pipe without limit: /proc/sys/fs/pipe-max-size, for who may not have
 * more. */
#define PIPE_BYTES_MAX ((size_t)1 << 20)

struct pump {
	struct channel *channel; /* borrowed */
	int *out, *err, *in; /* the payload's pipes, borrowed; set to -1 and
				closed at their end */
	const char *input;   /* borrowed */
	size_t input_left;
	uint64_t left; /* bytes of output that may still come */
	bool over;     /* there was more */
};

/* One read of a pipe, one frame.  An error is the core's: it is gone, or does
 * not take what is sent (REDOMA_E_BUSY, channel's send_by_us). */
MUST_CHECK int pump_take(struct pump *m, enum frame_kind kind,
			 struct redoma_error *err);
/* What is in the pipes, when nothing can write to them any more. */
MUST_CHECK int pump_drain(struct pump *m, struct redoma_error *err);
/* One write of the input. */
void pump_feed(struct pump *m);
/* Reads and drops what is in a pipe now; up to `size` - 1 bytes of it stay in
 * `head` as a string, if that is not NULL. */
void pump_drop(int fd, char *head, size_t size);

#endif

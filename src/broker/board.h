/* broker/board.h - how far the broker is with its work, for a watcher in
 * another process: both map it shared.  What does not beat and is not done
 * waits for the file system of `grant`. */
#ifndef BROKER_BOARD_H
#define BROKER_BOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct board {
	_Atomic uint64_t beats; /* grows while work gets on */
	_Atomic uint32_t grant; /* index in the policy; what is worked on */
};

/* b may be NULL: nobody watches. */
static inline void board_beat(struct board *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->beats, 1, memory_order_relaxed);
}

static inline void board_at(struct board *b, uint32_t grant)
{
	if (!b)
		return;
	atomic_store_explicit(&b->grant, grant, memory_order_relaxed);
	board_beat(b);
}

#endif

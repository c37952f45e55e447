/* usher/start.h - what a process of ours sheds before it serves. */
#ifndef USHER_START_H
#define USHER_START_H

#include "base/err.h"
#include "broker/board.h"

/* Maps the board, gives up capabilities that the core did not have (a user 0
 * gets them back by exec), leaves the terminal's session and every directory
 * but the root. */
MUST_CHECK int start_up(struct board **ret, struct redoma_error *err);
/* Moves to the core's CPU: neither then wakes another for the other's sake. */
void start_follow(uint32_t cpu);

#endif

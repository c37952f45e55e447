/* base/clock.h - time in microseconds.  Never fails: the clocks used exist in
 * every kernel this runs on. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

uint64_t clock_monotonic_us(void); /* CLOCK_MONOTONIC: for deadlines */
uint64_t clock_realtime_us(void);  /* since 1970 */
uint64_t clock_thread_us(void);    /* CPU time of this thread */

#endif

/* base/units.h - times, sizes and counts as people write them: "500ms",
 * "64MiB", "5_000_000_000".
 *
 * The parsers return NULL, or a sentence, static, that says what is wrong and
 * what to write; *ret is then untouched.  Zero is refused: there is no limit
 * of nothing, and none that means "no limit". */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>
#include "base/str.h"

/* Whole numbers of ms, s or m, in microseconds. */
const char *units_time(struct str s, uint64_t *ret_us);
/* Whole numbers of B, KiB, MiB or GiB. */
const char *units_size(struct str s, uint64_t *ret_bytes);
/* A whole number; single underscores may stand between digits. */
const char *units_count(struct str s, uint64_t *ret);
/* The same, but zero is a number too (byte positions, seeds). */
const char *units_number(struct str s, uint64_t *ret);

#define UNITS_TEXT_MAX 32
/* The largest unit that is exact: text that the parsers read back.  Times are
 * multiples of a millisecond there; what is less is rounded up.  Both return
 * dst. */
const char *units_print_time(uint64_t us, char dst[UNITS_TEXT_MAX]);
const char *units_print_size(uint64_t bytes, char dst[UNITS_TEXT_MAX]);
/* For people, to three digits: "2.003s", "812us", "1.5MiB". */
const char *units_show_time(uint64_t us, char dst[UNITS_TEXT_MAX]);
const char *units_show_size(uint64_t bytes, char dst[UNITS_TEXT_MAX]);

#endif

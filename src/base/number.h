/* base/number.h - decimal numbers, the same in every locale. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

#define NUMBER_TEXT_MAX 32

/* An optional sign, digits, optionally a point with digits behind it and an
 * exponent, nothing else; the nearest double.  False, and the output
 * untouched, for anything else and for what is not finite. */
bool number_read(struct str s, double *ret);
/* An optional sign and digits; false too if it does not fit. */
bool integer_read(struct str s, int64_t *ret);
/* Shortest digits that read back the same; "" if it is not finite.  Returns
 * the length; dst ends in NUL. */
size_t number_write(double n, char dst[NUMBER_TEXT_MAX]);
size_t integer_write(int64_t n, char dst[NUMBER_TEXT_MAX]);

#endif

/* policy/decimal.h - decimal numbers as they are written, compared exactly: no
 * digit of an argument is rounded away before it is held against its bound. */
#ifndef POLICY_DECIMAL_H
#define POLICY_DECIMAL_H

#include <stdbool.h>
#include "base/str.h"

/* A number as JSON writes one (RFC 8259, section 6). */
bool decimal_is(struct str s);
/* Less than 0, 0, more than 0; both are numbers. */
int decimal_compare(struct str a, struct str b);
/* 1.0 and 1e3 are whole, 1.5 is not. */
bool decimal_is_whole(struct str s);

#endif

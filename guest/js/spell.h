/* spell.h - how the texts of tags are spelt, and no other way: as
 * docs/guide/result.md says, the same in guest/py/carry.py. */
#ifndef SPELL_H
#define SPELL_H

#include <stdbool.h>
#include <stddef.h>

/* True if these n bytes are a text of that kind: "bigint", "bytes", "date",
 * "decimal", "duration", "time". */
bool spell_is(const char *kind, const char *p, size_t n);

#endif

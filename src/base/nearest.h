/* base/nearest.h - "did you mean": the known name nearest to a misspelt one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/str.h"

/* The name of `names` (NULL-terminated) that is nearest to word by edit
 * distance, neighbours swapped counting as one edit, case as none; NULL if
 * none is near: more than a third of the word, at least one edit. */
const char *nearest_name(struct str word, const char *const *names);

#endif

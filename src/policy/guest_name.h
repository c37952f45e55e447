/* policy/guest_name.h - names as guests see them: absolute, without "//", ".",
 * ".." and a slash at the end. */
#ifndef POLICY_GUEST_NAME_H
#define POLICY_GUEST_NAME_H

#include "base/err.h"
#include "base/str.h"

#define GUEST_NAME_MAX 4095 /* PATH_MAX without the NUL, limits.h */

/* The normalised form of a name that must be absolute and hold no "..": *ret
 * is owned by the caller.  Returns NULL, or a sentence saying what is wrong;
 * *ret is NULL when memory is out. */
const char *guest_name(struct str name, char **ret);
/* The name inside for a host name: the same when absolute, else "/" and the
 * rest without leading "../" and "./".  Also lexical: "a/../b" is "/b". */
const char *guest_name_of_host(struct str host, char **ret);
/* What both host and guest names must be; NULL or a sentence. */
const char *guest_name_flaw(struct str name);

#endif

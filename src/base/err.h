/* base/err.h - the one way errors travel: an int code, details in a plain
 * struct redoma_error (see redoma.h).  Nothing here allocates. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <redoma.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* Fills err (if not NULL) and returns code, so that callers write
 *	return err_set(err, REDOMA_E_INVALID, "policy", "line %d: ...", n);
 * `where` is the floor.  sys is left 0. */
int err_set(struct redoma_error *err, enum redoma_code code, const char *where,
	    const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same for a failed system call: appends ": strerror(errno)", keeps errno
 * in err->sys, and returns REDOMA_E_NOMEM for ENOMEM, else REDOMA_E_SYSTEM. */
int err_sys(struct redoma_error *err, const char *where, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* REDOMA_E_NOMEM with a fixed text. */
int err_nomem(struct redoma_error *err, const char *where);
/* True for an errno that tells nothing of what was asked for, only that just
 * now there was no memory, no descriptor, or a signal. */
bool err_is_shortage(int sys);

#endif

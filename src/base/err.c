#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct redoma_error *err, int code, int sys, const char *where)
{
	err->code = code;
	err->sys = sys;
	snprintf(err->where, sizeof err->where, "%s", where);
}

int err_set(struct redoma_error *err, enum redoma_code code, const char *where,
	    const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	fill(err, code, 0, where);
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	return code;
}

/* Where there is a remedy that is the same for all. */
static const char *describe(int sys)
{
	const char *text = strerrordesc_np(sys);

	if (sys == EMFILE)
		return "Too many open files: close some, or raise ulimit -n";
	if (sys == EFBIG)
		return "File too large: ulimit -f or the file system allows no "
		       "more";
	return text ? text : "unknown error";
}

int err_sys(struct redoma_error *err, const char *where, const char *fmt, ...)
{
	int sys = errno;
	enum redoma_code code =
		sys == ENOMEM ? REDOMA_E_NOMEM : REDOMA_E_SYSTEM;
	va_list ap;
	size_t n;

	if (!err)
		return code;
	fill(err, code, sys, where);
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, ": %s", describe(sys));
	return code;
}

int err_nomem(struct redoma_error *err, const char *where)
{
	return err_set(err, REDOMA_E_NOMEM, where, "out of memory");
}

bool err_is_shortage(int sys)
{
	return sys == ENOMEM || sys == EMFILE || sys == ENFILE ||
	       sys == EINTR;
}

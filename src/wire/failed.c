#include "wire/failed.h"

#include <string.h>

/* It is shown to people as our own words: one line, printable. */
static void clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			*s = '?';
}

int failed_read(const void *body, size_t len, struct redoma_error *err)
{
	struct redoma_error e;

	if (len != sizeof e)
		return err_set(err, REDOMA_E_WORKER, "wire",
			       "the worker failed and did not say why");
	memcpy(&e, body, sizeof e);
	e.where[sizeof e.where - 1] = '\0';
	e.text[sizeof e.text - 1] = '\0';
	clean(e.where);
	clean(e.text);
	if (e.code >= 0 || e.code < REDOMA_E_BUSY)
		e.code = REDOMA_E_WORKER;
	if (err)
		*err = e;
	return e.code;
}

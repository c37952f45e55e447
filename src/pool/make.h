/* pool/make.h - the process that makes the data image (compiler/data.h), and
 * what it says while it does. */
#ifndef POOL_MAKE_H
#define POOL_MAKE_H

#include <stdbool.h>
#include "wire/compile.h"

struct make_options { /* borrowed for the call */
	const char *program; /* redoma-compile */
	/* Descriptors: the module, its library, the image's own Python; and a
	 * file, which becomes the artefact. */
	int module, library, python, out;
	uint32_t may_lack;
	/* Called when a step begins, and about each second; true: end it. */
	bool (*on_step)(void *data, enum compile_step s);
	void *data;
};

/* Waits for its end, COMPILE_DATA_SECONDS at most.
 * REDOMA_E_BUSY: on_step wanted it so. */
MUST_CHECK int make_image(const struct make_options *o,
			  struct compile_report *ret, struct redoma_error *err);

#endif

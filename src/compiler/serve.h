/* compiler/serve.h - compiling inside the kernel jail. */
#ifndef COMPILER_SERVE_H
#define COMPILER_SERVE_H

#include <stdint.h>
#include "engine/engine.h"
#include "jail/jail.h"
#include "wire/compile.h"

/* What a child does once it is locked, and what it may have. */
struct serve_work { /* all borrowed */
	enum profile profile;
	uint32_t may_lack;
	enum jail_filter filter;
	unsigned seconds; /* of CPU, and by the clock */
	uint64_t memory_bytes, file_bytes;
	const int *keep; /* descriptors, ascending */
	size_t n_keep;
	const char *what;   /* takes too long: "compiling the module" */
	const char *remedy; /* then */
	/* Fills what it has to say besides err, which is all zero. */
	int (*work)(const struct serve_work *w, struct compile_report *r,
		    struct redoma_error *err);
	void *data;
};

/* Locks itself into a child of this process, which works; reports, and returns
 * the exit status. */
int serve_jailed(const struct serve_work *w);
/* Reports what went wrong before that; returns likewise. */
int serve_failed(const struct redoma_error *err);
/* One untrusted module.  Descriptors and limits: wire/compile.h. */
int serve_module(enum profile profile, uint32_t may_lack);

#endif

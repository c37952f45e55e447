/* compiler/image.h - compiles a language image when Redoma is built. */
#ifndef COMPILER_IMAGE_H
#define COMPILER_IMAGE_H

#include "engine/cpu.h"
#include "engine/engine.h"

struct image_job {
	const char *in, *out; /* paths; out is replaced when it is complete */
	enum profile profile;
	const struct cpu *cpu; /* NULL: this one */
};

MUST_CHECK int image_compile(const struct image_job *j,
			     struct redoma_error *err);

#endif

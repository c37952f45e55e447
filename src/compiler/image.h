/* compiler/image.h - compiles a language image when Redoma is built. */
#ifndef COMPILER_IMAGE_H
#define COMPILER_IMAGE_H

#include "engine/engine.h"

/* in and out are paths; out is replaced when it is complete. */
MUST_CHECK int image_compile(enum profile profile, const char *in,
			     const char *out, struct redoma_error *err);

#endif

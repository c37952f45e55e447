/* compiler/serve.h - one untrusted module, compiled inside the kernel jail. */
#ifndef COMPILER_SERVE_H
#define COMPILER_SERVE_H

#include <stdint.h>
#include "engine/engine.h"

/* Descriptors and limits: wire/compile.h.  Locks itself into a child of this
 * process, reports, and returns the exit status. */
int serve_module(enum profile profile, uint32_t may_lack);

#endif

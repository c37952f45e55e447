/* wire/compile.h - what redoma-compile says at its end: one such struct on its
 * report pipe.  The process that sends it read hostile bytes, so the reader
 * believes nothing but the sizes of this struct. */
#ifndef WIRE_COMPILE_H
#define WIRE_COMPILE_H

#include <stdint.h>
#include "base/err.h"

#define COMPILE_ABI 1u
#define COMPILE_CONTROLS 16
#define COMPILE_SECONDS 10
#define COMPILE_MEMORY ((uint64_t)1 << 30)   /* bytes it may have */
#define COMPILE_ARTEFACT ((uint64_t)256 << 20) /* bytes it may write */
#define COMPILE_MODULE ((uint64_t)64 << 20)    /* bytes it may read */

/* Its descriptors. */
enum { COMPILE_IN = 3, COMPILE_OUT = 4, COMPILE_REPORT = 5 };

struct compile_report {
	uint32_t abi;
	int32_t landlock_abi;
	uint8_t state[COMPILE_CONTROLS]; /* struct jail_report */
	struct redoma_error err;	 /* code 0: the artefact is written */
};

#endif

/* wire/compile.h - what redoma-compile says at its end: one such struct on its
 * report pipe.  The process that sends it read hostile bytes, so the reader
 * believes nothing but the sizes of this struct. */
#ifndef WIRE_COMPILE_H
#define WIRE_COMPILE_H

#include <stdint.h>
#include "base/err.h"

#define COMPILE_ABI 2u
#define COMPILE_CONTROLS 16
#define COMPILE_SECONDS 10
#define COMPILE_MEMORY ((uint64_t)1 << 30)   /* bytes it may have */
#define COMPILE_ARTEFACT ((uint64_t)256 << 20) /* bytes it may write */
#define COMPILE_MODULE ((uint64_t)64 << 20)    /* bytes it may read */

/* The same for the image of deps/data.pin, and for no other bytes. */
#define COMPILE_DATA_SECONDS 600
#define COMPILE_DATA_MEMORY ((uint64_t)4 << 30)
#define COMPILE_DATA_ARTEFACT ((uint64_t)1 << 30)
#define COMPILE_DATA_INPUT ((uint64_t)256 << 20)

/* Its descriptors.  From COMPILE_LIBRARY on only for that image: its library,
 * its own Python, and a pipe that gets a byte, an enum compile_step, when a
 * step begins. */
enum {
	COMPILE_IN = 3,
	COMPILE_OUT = 4,
	COMPILE_REPORT = 5,
	COMPILE_LIBRARY = 6,
	COMPILE_PROGRAM = 7,
	COMPILE_STEPS = 8
};

enum compile_step {
	COMPILE_STEP_CHECK,
	COMPILE_STEP_QUICK, /* compiling it a first time, to set it up */
	COMPILE_STEP_SETUP,
	COMPILE_STEP_GOOD,  /* compiling what the set-up left */
	COMPILE_STEP_WRITE,
	COMPILE_STEPS_N
};

struct compile_report {
	uint32_t abi;
	int32_t landlock_abi;
	uint8_t state[COMPILE_CONTROLS]; /* struct jail_report */
	struct redoma_error err;	 /* code 0: the artefact is written */
	uint64_t memory_bytes; /* of the data image when a run begins */
};

#endif

/* compiler/data.h - the data image, made on the machine that will use it. */
#ifndef COMPILER_DATA_H
#define COMPILER_DATA_H

#include <stdint.h>

/* Inside the kernel jail, and of bytes with the digests of deps/data.pin alone:
 * gives the module the exports of an image, compiles it quickly, lets the
 * image's own Python set it up, and compiles what that left.  Descriptors,
 * limits and steps: wire/compile.h.  Reports, and returns the exit status. */
int data_image(uint32_t may_lack);

#endif

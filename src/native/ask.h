/* native/ask.h - init asks the core for a stage, as a worker would: one
 * FRAME_CALL out, one FRAME_ANSWER in. */
#ifndef NATIVE_ASK_H
#define NATIVE_ASK_H

#include <stdint.h>
#include "base/str.h"
#include "wire/frame.h"

/* `stage` of struct collect; data is the struct channel. */
int ask_stage(void *data, uint32_t grant, struct str path,
	      uint64_t *ret_handle, int *ret_fd);

#endif

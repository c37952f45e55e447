/* wasi/written.h - at the end of a run: what it wrote, and whether that is all
 * that it wanted to write. */
#ifndef WASI_WRITTEN_H
#define WASI_WRITTEN_H

#include "wasi/state.h"

/* Lists the files that exist in write grants, with their paths; fills lacks
 * and lacking of the report. */
void written_list(struct wasi *w);
void written_forget(struct wasi *w);

#endif

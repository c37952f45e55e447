/* wasi/made.h - what a run makes in write directories. */
#ifndef WASI_MADE_H
#define WASI_MADE_H

#include "wasi/path.h"

/* A new empty file at s, which is no node, below a write directory.  W_NOENT:
 * its directory does not exist; W_NOSPC and a denial: over max_files. */
uint32_t made_file(struct wasi *w, const struct spot *s, uint32_t *ret);
uint32_t made_dir(struct wasi *w, const struct spot *s);
/* Makes the directory that s->rest is in, if a read grant shows it, and
 * splits it off: *ret_dir is its node, *ret_name the last component. */
uint32_t made_parent(struct wasi *w, const struct spot *s, uint32_t *ret_dir,
		     struct str *ret_name);
/* Takes a made file or empty directory away. */
void made_remove(struct wasi *w, uint32_t node);

#endif

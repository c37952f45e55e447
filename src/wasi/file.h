/* wasi/file.h - the bytes of an open file: ranges, budgets, quotas.
 *
 * Offsets are kept in handles; the position of an open file description is
 * never used, and nothing is ever mapped. */
#ifndef WASI_FILE_H
#define WASI_FILE_H

#include "wasi/state.h"

/* What the guest sees of a file or directory. */
struct file_stat {
	uint8_t type;
	uint64_t dev, ino, nlink, size;
	uint64_t atim_ns, mtim_ns, ctim_ns;
};

/* At most n bytes from offset, fewer only at the end; *ret 0 at the end.
 * W_ACCES and a denial: over the grant's max_bytes.  h: HANDLE_READ or
 * HANDLE_WRITE. */
uint32_t file_read(struct wasi *w, struct handle *h, struct guest_span to,
		   uint64_t offset, size_t *ret);
/* All n spans, or what was written before an error.  W_FBIG: the end is
 * beyond 2^63; W_NOSPC and a denial: over the grant's max_bytes, nothing is
 * written then. */
uint32_t file_write(struct wasi *w, uint32_t node, uint64_t offset,
		    const struct guest_span *from, uint32_t n,
		    uint32_t *ret);
/* Not to grow is an answer to whoever asks for room, and no loss; with
 * file_set_size it is one: the guest said how long the file is. */
uint32_t file_resize(struct wasi *w, uint32_t node, uint64_t size);
uint32_t file_set_size(struct wasi *w, uint32_t node, uint64_t size);
/* W_NOSPC and a denial if the file cannot be `size` bytes long. */
uint32_t file_check_size(struct wasi *w, uint32_t node, uint64_t size);
uint32_t file_size(struct wasi *w, const struct handle *h, uint64_t *ret);

/* Status of a node, of a handle, of what the core said; times before 1970
 * are 0, as the type of WASI has no sign. */
void file_stat_node(struct wasi *w, uint32_t node, struct file_stat *ret);
uint32_t file_stat_handle(struct wasi *w, const struct handle *h,
			  struct file_stat *ret);
void file_stat_host(const struct wasi_stat *st, struct file_stat *ret);
/* Status of the single read file of a grant, without opening it. */
uint32_t file_stat_grant(struct wasi *w, uint32_t grant, uint64_t ino,
			 struct file_stat *ret);
void file_put_stat(const struct guest *g, uint32_t at,
		   const struct file_stat *st);

/* W_INVAL: flags of a set_times call that do not exist or contradict. */
uint32_t file_check_times(uint32_t flags);
/* The two times of a set_times call; they are kept here, not on the stage. */
uint32_t file_set_times(struct wasi *w, uint32_t node, uint32_t flags,
			uint64_t atim_ns, uint64_t mtim_ns);

#endif

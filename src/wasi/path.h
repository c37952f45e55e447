/* wasi/path.h - from a name that the guest wrote to a place in the tree.
 *
 * Names are taken component by component.  "..", at the root, stays there; a
 * name that begins with '/' starts from the root.  Below a granted directory
 * the core resolves: a ".." after a component that the core says is a real
 * directory goes up here, so that it may leave the grant for a place that is
 * granted too; after a symbolic link it is left to the core.
 *
 * Errors: W_NOENT empty; W_NAMETOOLONG 4096 bytes or more, or a component over
 * 255; W_INVAL a NUL; W_ILSEQ not UTF-8; W_NOTDIR through a file; W_ACCES a
 * name for which there is no grant, noted as a denial. */
#ifndef WASI_PATH_H
#define WASI_PATH_H

#include "wasi/state.h"

struct spot {
	struct str asked;	 /* as the guest wrote it; borrowed */
	const struct handle *dir; /* where it started */
	const char *op;		 /* for denials */
	uint32_t node;		 /* the last node on the way */
	size_t rest_len;
	bool must_dir; /* the name ends in '/', "." or ".." */
	bool dots;     /* its last component is "." or ".." */
	char rest[WASI_PATH_MAX]; /* what is below the node; "": itself */
};

/* The guest's name, checked. */
uint32_t path_get(const struct guest *g, uint32_t ptr, uint32_t len,
		  struct str *ret);
/* Where a name leads.  dir must be a HANDLE_DIR. */
uint32_t path_find(struct wasi *w, const struct handle *dir, struct str name,
		   const char *op, struct spot *ret);
/* path_get, the directory's handle and its rights, path_find. */
struct path_arg {
	uint32_t fd, ptr, len;
	uint64_t rights;
	const char *op;
};
uint32_t path_from(struct wasi *w, const struct guest *g,
		   const struct path_arg *a, struct spot *ret);
/* The read directory that the core resolves s in, or -1; its path there. */
int32_t path_reader(const struct wasi *w, uint32_t node, const char *rest,
		    char path[WASI_PATH_MAX]);
/* No grant allows it: notes a denial, returns W_ACCES. */
uint32_t path_denied(struct wasi *w, const struct spot *s, bool write);
/* What a failed answer of the core is to the guest; what it refuses (EACCES,
 * EPERM, EXDEV) is a denial. */
uint32_t path_failed(struct wasi *w, const struct spot *s, int host_errno);
/* What is at s: W_ACCES and a denial, W_NOENT, or its status. */
uint32_t path_stat(struct wasi *w, const struct spot *s, bool follow,
		   struct wasi_stat *ret);

#endif

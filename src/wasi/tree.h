/* wasi/tree.h - the names a guest can see.
 *
 * A virtual tree of directories and files, made from the plan's grants and,
 * below write directories, from what the run makes.  Nodes are numbers into
 * one array; node 0 is "/".  A node can carry a read grant and a write grant
 * at once: a file that may be read and replaced, a directory whose old files
 * are shown and which takes new ones.
 *
 * Files below a granted read directory are not nodes: a name that leaves the
 * tree is `rest`, for the core to resolve (see path.h). */
#ifndef WASI_TREE_H
#define WASI_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/str.h"
#include "policy/plan.h"

#define TREE_ROOT 0u
#define TREE_NONE UINT32_MAX
#define TREE_NODES_MAX 65536u /* files and directories that a run makes */

struct tree_node {
	char *name; /* owned; NULL for the root */
	uint32_t name_len, hash;
	uint32_t parent, first, last, next, prev;
	uint32_t refs;	 /* descriptors that are open on it */
	uint64_t serial; /* in order of making: cookies of fd_readdir */
	int32_t read, write; /* grants, or -1 */
	bool directory;
	bool made; /* by the run, in a write directory */
	bool live; /* has a name; false: unlinked, descriptors are open */
	bool free;
	/* files of a write grant */
	bool touched; /* opened for writing: it exists */
	int fd;	      /* stage; owned if made, else of the plan */
	uint64_t handle, size;
	uint8_t lacks; /* enum wasi_lack: what was written is not all there */
	bool has_atim, has_mtim; /* set by the guest */
	uint64_t atim_ns, mtim_ns;
};

struct tree {
	struct tree_node *nodes; /* owned */
	uint32_t n, room;
	uint32_t free; /* first of the free list (by .next), or TREE_NONE */
	uint32_t n_made;
	uint64_t serial;
};

MUST_CHECK int tree_init(struct tree *t);
/* Forgets all but the root; costs what was in it.  Closes made stages. */
void tree_clear(struct tree *t);
void tree_done(struct tree *t);
/* Adds the names of a plan to an empty tree.  REDOMA_E_INVALID: two grants
 * contradict each other (a file where a directory is). */
MUST_CHECK int tree_add_plan(struct tree *t, const struct plan *plan,
			     struct redoma_error *err);
/* A child by name, or TREE_NONE. */
uint32_t tree_child(const struct tree *t, uint32_t dir, struct str name);
/* A new child; TREE_NONE: out of memory or over TREE_NODES_MAX. */
uint32_t tree_add(struct tree *t, uint32_t dir, struct str name,
		  bool directory);
/* Takes a made node's name away; it goes once no descriptor is open on it. */
void tree_remove(struct tree *t, uint32_t node);
/* Gives a made node another name and place.  -1: out of memory. */
MUST_CHECK int tree_move(struct tree *t, uint32_t node, uint32_t dir,
			 struct str name);
void tree_ref(struct tree *t, uint32_t node);
/* True if that was the last use of a nameless file: the caller closes its
 * stage and calls tree_forget. */
bool tree_unref(struct tree *t, uint32_t node);
void tree_forget(struct tree *t, uint32_t node);
/* The read directory that shows what is at `node`, or -1, with the path of
 * the node below it in path (size bytes).  -1 too if the path is too long. */
int32_t tree_reader(const struct tree *t, uint32_t node, char *path,
		    size_t size);
/* The write directory that takes new names at `node`, or -1. */
int32_t tree_writer(const struct tree *t, uint32_t node);
/* The path of `node` below `top`, "" for itself, or from the root (then it
 * starts with '/').  False if it does not fit. */
bool tree_path(const struct tree *t, uint32_t node, uint32_t top, char *path,
	       size_t size);
/* True if `node` is `dir` or lies below it. */
bool tree_within(const struct tree *t, uint32_t node, uint32_t dir);

static inline struct str tree_name(const struct tree_node *n)
{
	return (struct str){n->name, n->name_len};
}

#endif

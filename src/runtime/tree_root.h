/* runtime/tree_root.h - a directory of the host as the whole root: one that
 * holds bin, lib, usr ... itself, or a bundle with such a directory.
 *
 * "oci:DIR" is a runtime bundle (OCI runtime specification, bundle.md): DIR
 * with config.json, whose root.path names the directory of files below DIR.
 * That is what `umoci unpack` makes and what `runc spec` begins.  An image
 * layout (OCI image specification, image-layout.md), whose layers are packed,
 * is refused with the command that unpacks it: unpacking is not done here.
 * Of config.json nothing but root.path is used: no environment, no command. */
#ifndef RUNTIME_TREE_ROOT_H
#define RUNTIME_TREE_ROOT_H

#include "runtime/build.h"

/* Adds everything in the directory, but for the places that a jail has of its
 * own: dev, proc, redoma, sys, tmp.  It, what is directly in it, and a bundle's
 * config.json must not be writable by their group or others, sticky or not.
 * Deeper down the way to the program is looked at (runtime/look.h), and nothing
 * else. */
MUST_CHECK int tree_root_add(struct build *b, const char *dir,
			     struct redoma_error *err);
MUST_CHECK int tree_root_add_oci(struct build *b, const char *dir,
				 struct redoma_error *err);

#endif

/* runtime/build.h - a root in the making.
 *
 * A file of the host has the same name inside, so that a program finds itself
 * and its own where it expects them; each symbolic link on the way becomes a
 * link of the root with the same text.  What lies where a jail has something
 * of its own (/tmp, /proc, ...) is shown below MOVED instead. */
#ifndef RUNTIME_BUILD_H
#define RUNTIME_BUILD_H

#include <limits.h>
#include "runtime/runtime.h"

#define BUILD_ENTRIES_MAX 4096u
#define BUILD_TEXT_MAX ((size_t)1 << 20) /* of one ROOT_TEXT */
#define BUILD_MOVED "/redoma/host"

struct build { /* all zero is empty */
	struct root_entry *entries; /* owned, with their strings */
	size_t n, room;
};

enum build_found { BUILD_NONE, BUILD_FILE, BUILD_DIR, BUILD_OTHER };

/* Both texts are copied. */
MUST_CHECK int build_add(struct build *b, enum root_kind kind,
			 const char *guest, const char *host,
			 struct redoma_error *err);
/* Adds the absolute path `path` of the host, a file or a directory, and the
 * links on the way.  *found says what is there; with BUILD_NONE (missing,
 * unreadable way) and BUILD_OTHER (a device, a socket) nothing is added.
 * `exec`: programs or libraries in it may be mapped for execution.  `real` is
 * its path without links (of the host); may be NULL. */
MUST_CHECK int build_path(struct build *b, const char *path, bool exec,
			  enum build_found *found, char real[PATH_MAX],
			  struct redoma_error *err);
/* True if the jail has its own at that place, so that the path moves. */
bool build_moves(const char *path);
/* The name inside of an absolute path of the host: path, or moved.  -1: too
 * long. */
MUST_CHECK int build_guest(const char *path, char ret[PATH_MAX]);
/* Sorts, drops what is twice or below a directory entry; takes the entries and
 * fills ret->entries and n. */
MUST_CHECK int build_end(struct build *b, struct root *ret,
			 struct redoma_error *err);
/* Fills r->digest from everything else in r and the identity, size and times
 * of the files and directories it names. */
MUST_CHECK int build_digest(struct root *r, struct redoma_error *err);
void build_done(struct build *b);

#endif

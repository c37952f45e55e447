/* broker/resolve.h - host names of grants become descriptors, once, when a
 * plan is sealed.
 *
 * A relative name starts from the policy's directory, which the operator
 * named and which may itself lie behind symbolic links.  Behind that, and in
 * an absolute name everywhere, a symbolic link is refused unless the grant
 * says `follow: true`.  Magic links (/proc/self/fd/N) are refused always.
 *
 * Source: openat2(2). */
#ifndef BROKER_RESOLVE_H
#define BROKER_RESOLVE_H

#include <stdbool.h>
#include <sys/stat.h>
#include "base/err.h"
#include "policy/policy.h"

#define RESOLVE_PATH_MAX 4096u /* bytes of a host name, NUL included */

/* One host name on its way to a descriptor; borrows everything. */
struct resolve {
	int base;	   /* the policy's directory, for relative names */
	char label[32];	   /* "line 7: read", for sentences */
	const char *host;  /* as the policy has it */
	bool follow;
	bool may_follow; /* `follow: true` is for grants of this kind */
	bool in_file;	 /* written in a policy file, not as an option */
};

/* Opens the directory that relative names start from (O_PATH). */
MUST_CHECK int resolve_base(const char *base_dir, int *ret_fd,
			    struct redoma_error *err);
/* A regular file for reading: never blocks on a FIFO, opens no device. */
MUST_CHECK int resolve_file(const struct resolve *r, int *ret_fd,
			    struct stat *ret_st, struct redoma_error *err);
/* A directory (O_PATH); the name may end in a slash. */
MUST_CHECK int resolve_dir(const struct resolve *r, int *ret_fd,
			   struct redoma_error *err);
/* The directory that holds r->host, and its last component in name. */
MUST_CHECK int resolve_parent(const struct resolve *r, int *ret_fd,
			      char name[256], struct redoma_error *err);
/* True if fd lies in a proc file system: its files show this program itself
 * (/proc/self/mem, environ), whoever asked. */
bool resolve_is_proc(int fd);
/* "a directory", "a FIFO", ...: what stands where a file was promised. */
const char *resolve_kind(mode_t mode);

#endif

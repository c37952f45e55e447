/* policy/grants.h - read and write grants: one file or one directory each.
 *
 * A host name that ends in "/" is a directory, any other a regular file.
 * Several grants may overlap (a file in a granted directory); the name inside
 * is what must be unique among the read grants, and among the write grants. */
#ifndef POLICY_GRANTS_H
#define POLICY_GRANTS_H

#include "base/err.h"
#include "policy/policy.h"
#include "policy/tree.h"

/* What a write directory may hold when max_files is not given. */
#define GRANT_FILES_DEFAULT 1000
#define GRANT_BYTES_MAX ((uint64_t)1 << 50)

extern const char *const grant_modes[]; /* in the order of enum write_mode */

static inline bool grant_is_write(const struct grant *g)
{
	return g->kind == GRANT_WRITE_FILE || g->kind == GRANT_WRITE_DIR;
}

static inline bool grant_is_dir(const struct grant *g)
{
	return g->kind == GRANT_READ_DIR || g->kind == GRANT_WRITE_DIR;
}

/* Readers for the values of "read:" and "write:"; into is the policy. */
MUST_CHECK int grants_read(void *into, const struct tree *v,
			   struct redoma_error *err);
MUST_CHECK int grants_write(void *into, const struct tree *v,
			    struct redoma_error *err);
/* The command-line forms HOST[=GUEST] and HOST[=GUEST]:SIZE. `dir` is put
 * before a relative HOST; NULL: it stays as it is. */
MUST_CHECK int grants_option(struct policy *p, bool write, struct str value,
			     const char *dir, struct redoma_error *err);
MUST_CHECK int grant_copy(const struct grant *g, struct grant *ret,
			  struct redoma_error *err);
void grant_done(struct grant *g);

#endif

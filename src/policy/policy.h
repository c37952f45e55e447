/* policy/policy.h - what an operator allows: parsed, checked, immutable.
 *
 * One format for every kind of guest (YAML subset or JSON).  Deny by default:
 * an empty policy is pure computation within default limits.  Nothing here
 * touches the file system; names are opened when a plan is sealed (broker/). */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "policy/plan.h"
#include "policy/where.h"

#define POLICY_UNSET UINT64_MAX
#define TOOL_NAME_MAX 128u
#define TOOLS_MAX 256

struct grant {
	enum grant_kind kind;
	enum write_mode mode;
	char *host;  /* owned; relative names start from policy->base_dir */
	char *guest; /* owned; absolute and normalised */
	bool follow;
	bool has_sha256;
	uint8_t sha256[32];
	uint64_t max_bytes;   /* POLICY_UNSET if unset */
	uint64_t max_files;   /* POLICY_UNSET if unset */
	uint64_t first, last; /* inclusive; last POLICY_UNSET if unset */
	uint64_t opens;	      /* POLICY_UNSET if unset */
	int line;	      /* in the policy text, 0 if built by options */
};

/* A tool of the caller's that the guest may call. */
struct tool_grant {
	char *name;	     /* owned: one word */
	uint64_t max_calls;  /* POLICY_UNSET if unset */
	struct where *where; /* a share; NULL: any arguments */
	int line;	     /* in the policy text, 0 if built by options */
};

/* What a later release runs: parsed and shown; a run under it is refused by
 * name. */
struct policy_later {
	char *key;  /* owned: "net" */
	char *text; /* owned: the value as YAML flow text, for show */
};

/* The jail of a native program. */
struct native_policy {
	char **roots; /* owned, NULL-terminated; "runtime:NAME", "oci:DIR", or a
			 directory; NULL: chosen by the program */
	uint64_t tmp_bytes; /* of its /tmp */
	uint64_t pids;	    /* processes and threads together */
};

struct policy {
	char *base_dir; /* owned */
	struct limits limits;
	bool cpu_set; /* else cpu follows wall */
	struct grant *grants;
	size_t n_grants;
	char **env; /* owned "K=V", NULL-terminated */
	enum source_kind clock, random;
	int64_t clock_fixed_ns;
	uint64_t random_seed;
	bool end_on_denied;
	uint32_t may_lack; /* bit n: control n of policy_control_names */
	bool reuse_tenant;
	struct tool_grant *tools; /* owned */
	size_t n_tools;
	struct native_policy native;
	struct policy_later *later;
	size_t n_later;
};

/* The names `walls:` may hold, NULL-terminated, in the order of enum
 * jail_control (jail/jail.h): user mount pid net ipc uts cgroup-namespace
 * capabilities no-new-privs landlock rlimits seccomp cgroup. */
extern const char *const policy_control_names[];

/* Empty text is the default policy; any other must say "redoma: 1".  A host
 * name that ends in "/" is a directory.  Without "as" the name inside is the
 * host's: as it is when absolute, else "/" and the name without leading
 * "../".  The name inside is unique among read grants and among write grants,
 * and is not a file for one grant and a directory for another; grants may
 * otherwise overlap (one file of a granted directory under its own terms).
 * Errors are REDOMA_E_INVALID with line and column. */
MUST_CHECK int policy_parse(const char *text, size_t len, const char *base_dir,
			    struct policy **ret, struct redoma_error *err);
/* A new policy: p with one option of the command line added; see
 * redoma_policy_with.  A relative host name starts from base_dir (NULL: "."),
 * which must be absolute unless it is the policy's own, or that is ".". */
MUST_CHECK int policy_with(const struct policy *p, const char *key,
			   const char *value, const char *base_dir,
			   struct policy **ret, struct redoma_error *err);
MUST_CHECK int policy_copy(const struct policy *p, struct policy **ret,
			   struct redoma_error *err);
/* 0 if everything in `inner` is within `outer`; REDOMA_E_DENIED naming the
 * first thing that is wider.  Names are compared as words, no link is looked
 * at: a grant is within one of the same host and inner name, or within a
 * directory above both if it follows no link; what several inner grants take
 * of one outer grant is added up.  Clock and random: real is wider than fixed
 * (which must be the same), fixed than none. */
MUST_CHECK int policy_contains(const struct policy *outer,
			       const struct policy *inner,
			       struct redoma_error *err);
/* The effective policy with every default, as YAML that policy_parse takes. */
MUST_CHECK int policy_print(const struct policy *p, struct buf *out);
/* What was wanted of a grant, which has this name on the host. */
struct policy_want {
	const char *host, *op;
	uint64_t bytes; /* 0: not known */
};
/* The line where the grant is there and a bound of it was reached: with twice
 * as much, or as many bytes as were wanted if those are more; for reading
 * without a bound. */
MUST_CHECK int policy_print_more(const struct plan_grant *g,
				 const struct policy_want *want,
				 struct buf *out);
/* The line of YAML that would allow a denied operation, quoted so that guest
 * bytes cannot forge a line.  It names both, so that nobody takes the name
 * inside for the one outside: `read: [{host: "in.csv", as: "/in.csv"}]`. */
MUST_CHECK int policy_print_allow(struct str host, struct str guest, bool write,
				  struct buf *out);
void policy_free(struct policy *p);

#endif

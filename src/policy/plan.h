/* policy/plan.h - the sealed plan: the whole authority of one run.
 *
 * A policy (policy.h) is what an operator wrote; sealing it opens and checks
 * every host name and leaves numbers, guest names and descriptors.  A plan is
 * const afterwards.  It is what the core enforces from outside and what the
 * worker enforces from inside: both read the same struct. */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_GRANTS_MAX 256
#define PLAN_NAMES_MAX 1024   /* argv and env entries each */
#define PLAN_TEXT_MAX 65536   /* bytes of one guest name, argument, variable */

enum grant_kind {
	GRANT_READ_FILE,
	GRANT_READ_DIR,
	GRANT_WRITE_FILE,
	GRANT_WRITE_DIR,
};

enum write_mode { WRITE_REPLACE, WRITE_APPEND, WRITE_CREATE };

/* Where the run gets time and randomness from. */
enum source_kind { SOURCE_REAL, SOURCE_FIXED, SOURCE_NONE };

/* All sizes in bytes, all times in microseconds; never 0 ("no limit" does not
 * exist), except fuel, where 0 means fuel is not counted. */
struct limits {
	uint64_t wall_us;
	uint64_t cpu_us;
	uint64_t fuel;
	uint64_t memory_bytes;
	uint64_t output_bytes; /* stdout + stderr + result */
	uint64_t calls;
	uint64_t in_flight;
	uint64_t files; /* open handles */
};

/* One grant as the worker sees it: no host name in it. */
struct plan_grant {
	enum grant_kind kind;
	enum write_mode mode; /* write grants */
	bool via_core;	      /* opened and read through core frames only */
	bool pinned;	      /* sha256 was given: reading keeps a run pure */
	char *guest;	      /* owned; absolute, normalised, "/data/q3.csv" */
	int fd;		      /* plain read file: open O_RDONLY; write file: the
				 stage, O_RDWR; else -1.  Owned by the run. */
	uint64_t max_bytes;   /* read: total the guest may read, UINT64_MAX if
				 unset; write: size of all files together */
	uint64_t max_files;   /* write directories */
	uint64_t first, last; /* inclusive range; last UINT64_MAX if unset */
	uint64_t opens;	      /* how often it may be opened; UINT64_MAX */
};

struct plan {
	struct limits limits;
	struct plan_grant *grants; /* owned array, n_grants */
	uint32_t n_grants;
	char **argv; /* owned, NULL-terminated; argv[0] is the program's name */
	char **env;  /* owned, NULL-terminated, "K=V" */
	char **tools; /* owned, NULL-terminated: names, to be shown; what they
			 may be called with is the core's alone */
	enum source_kind clock, random;
	int64_t clock_fixed_ns; /* since 1970, SOURCE_FIXED */
	uint64_t random_seed;	/* SOURCE_FIXED */
	bool end_on_denied;	/* on_denied: end */
};

/* Frees what the plan owns and closes its descriptors; NULL is fine. */
void plan_done(struct plan *p);

#endif

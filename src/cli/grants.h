/* cli/grants.h - the options that say what a run may do. */
#ifndef CLI_GRANTS_H
#define CLI_GRANTS_H

#include "cli/args.h"

/* --policy --limit --clock ...: for whatever runs. */
extern const struct option bounds_options[];
/* --read --write --env --tool ...: for what can make something of it. */
extern const struct option grants_options[];

/* What the options come to.  With --policy, `policy` is the file's and
 * `request` the same with the other options on top, to be passed as
 * request.narrow; without, `policy` is made of the options and `request` is
 * NULL.  `policy_path` may stand in for --policy; NULL: the option is read. */
struct grants {
	struct redoma_policy *policy;  /* owned */
	struct redoma_policy *request; /* owned, or NULL */
};

MUST_CHECK int grants_build(const struct args *a, const char *policy_path,
			    struct grants *ret, struct redoma_error *err);
void grants_done(struct grants *g);

#endif

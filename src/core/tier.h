/* core/tier.h - the tier of this machine in one line: what is lacking, and what
 * runs in spite of it. */
#ifndef CORE_TIER_H
#define CORE_TIER_H

#include "base/json.h"
#include "jail/jail.h"

/* "tier": {"name", "wasm", "native"}; "full" is a name, and so is "no control
 * group; no Landlock".  r: what jail_probe found.  Native programs are tried by
 * making one of their jails, empty, with init_path (NULL: not installed), so
 * that what is said is what a run would say.  Takes tens of milliseconds. */
void tier_put(struct json_writer *w, const struct jail_report *r,
	      const char *init_path);

#endif

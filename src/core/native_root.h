/* core/native_root.h - the root and the setup of a native program's jail. */
#ifndef CORE_NATIVE_ROOT_H
#define CORE_NATIVE_ROOT_H

#include "base/buf.h"
#include "core/job.h"
#include "runtime/runtime.h"
#include "wire/native.h"

struct native_root {
	struct root root;
	struct buf bytes; /* native_root_encode of it */
	struct native_setup setup;
	const char *source_name; /* of a source without a name; static */
	char *key;		 /* owned */
};

/* *ret is the handle's, until the next call: a language's root is kept, a
 * command's is looked up anew. */
MUST_CHECK int native_root_find(struct job *j, const struct native_root **ret,
				struct redoma_error *err);
/* What is imported ahead is not ours: where no jail got ready with it, none of
 * this handle has it any more for the same root.  Changes the setup of what
 * native_root_find gave last. */
void native_root_plain(struct job *j);

#endif

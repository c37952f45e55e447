/* broker/native.h - a sealed plan made fit for a native program, which opens
 * its files by name: nothing of it passes through us while it runs. */
#ifndef BROKER_NATIVE_H
#define BROKER_NATIVE_H

#include "broker/seal.h"

/* `other_user`: the program runs as a user that is not ours.  Afterwards each
 * read grant of the plan has a descriptor: of a file or directory to mount
 * (O_PATH: whoever holds it does not ask its file system by closing it), or,
 * with via_core, of bytes to copy (those of a sealed copy; those of a file that
 * only we may read).  REDOMA_E_UNSUPPORTED for a grant that would have to be
 * counted: the sentence says which. */
MUST_CHECK int seal_native(struct sealed *s, bool other_user,
			   struct redoma_error *err);

#endif

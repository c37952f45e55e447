/* native/judge.h - everything that is known after a run of a native program,
 * made into the one outcome that is told. */
#ifndef NATIVE_JUDGE_H
#define NATIVE_JUDGE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "native/collect.h"
#include "native/watch.h"
#include "wire/outcome.h"

struct judged {
	struct outcome outcome; /* its texts borrow from below */
	struct json_doc *error; /* owned: what a bootstrap said */
	char text[256];
	const char *value; /* borrowed from the bootstrap's; len 0: none */
	size_t value_len;
};

/* How the payload ended; the files come with judge_files. */
void judge_end(const struct watch *w, struct judged *ret);
/* What was collected from a run that ended ok.  p's guest names are shown. */
void judge_files(const struct collect *c, const struct plan *p,
		 struct judged *j);
void judged_done(struct judged *j);

#endif

/* cli/attack.h - `redoma doctor --attack`: the escape corpus, and what a person
 * or a program is told of it. */
#ifndef CLI_ATTACK_H
#define CLI_ATTACK_H

#include <stdbool.h>
#include "attack/corpus.h"
#include "base/json.h"
#include "cli/exits.h"

struct attack_tally {
	size_t n[3]; /* by enum attack_result */
	size_t unclear;
};

void attack_count(struct attack_tally *t, const struct attack_verdict *v);
/* Worst first: an attack that succeeded, one of which nothing can be said, a
 * control (or a whole profile) that is missing. */
enum cli_exit attack_exit(const struct attack_tally *t, bool lacks_control);
/* One line, or two where there is something to explain; at most 80 columns. */
MUST_CHECK int attack_add_row(struct buf *b, const struct attack_row *row,
			      const struct attack_verdict *v);
void attack_put_row(struct json_writer *w, const struct attack_row *row,
		    const struct attack_verdict *v);

/* `findings` is what redoma_doctor said, `sentences` the same for people.
 * Returns the exit code. */
int attack_doctor(const struct json_value *findings,
		  const struct buf *sentences, bool json);

#endif

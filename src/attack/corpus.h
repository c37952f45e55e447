/* attack/corpus.h - runs the escape corpus, each attack with every control on,
 * and has each judged by what it did to the host. */
#ifndef ATTACK_CORPUS_H
#define ATTACK_CORPUS_H

#include "attack/judge.h"

struct attack_listener {
	/* After each attack; not 0: run no more. */
	int (*heard)(void *data, const struct attack_row *row,
		     const struct attack_verdict *v);
	void *data;
};

/* `install_dir` is where redoma-attack and images/ are.  Must be called by a
 * process with one thread: it has a child and a variable meanwhile. */
MUST_CHECK int attack_run_all(const char *install_dir,
			      const struct attack_listener *l,
			      struct redoma_error *err);

#endif

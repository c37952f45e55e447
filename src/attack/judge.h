/* attack/judge.h - whether an attack was stopped.
 *
 * First the host is asked: a nonce that came out, or a canary that was touched,
 * is a success whatever the guest and the result say.  Then what the guest
 * claims.  Then how the run ended.  What fits nowhere is never "stopped". */
#ifndef ATTACK_JUDGE_H
#define ATTACK_JUDGE_H

#include <stdbool.h>
#include "attack/rows.h"
#include "base/err.h"

enum attack_result { ATTACK_STOPPED, ATTACK_SUCCEEDED, ATTACK_SKIPPED };

#define ATTACK_NONCES 5
#define ATTACK_NONCE_ROOM 33

struct attack_nonce {
	const char *what; /* what it stands for; static text */
	char text[ATTACK_NONCE_ROOM];
};

struct attack_evidence {
	enum redoma_status status;
	const char *out; /* standard output; NULL: none */
	size_t out_len;
	const char *all; /* everything that came back, as JSON */
	size_t all_len;
	const char *touched; /* which canary was touched; NULL: none */
};

struct attack_verdict {
	enum attack_result result;
	bool unclear;	  /* skipped because nothing can be said of it */
	const char *wall; /* static text; NULL unless stopped */
	char detail[160];
};

/* `nonces` has ATTACK_NONCES rows; one without text is not looked for. */
void attack_judge(const struct attack_row *row,
		  const struct attack_evidence *e,
		  const struct attack_nonce *nonces,
		  struct attack_verdict *ret);
/* A run that was refused, for the reason that err gives. */
void attack_judge_refused(const struct redoma_error *err,
			  struct attack_verdict *ret);

const char *attack_result_name(enum attack_result r);

#endif

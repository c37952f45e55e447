/* attack/rows.h - the escape corpus: one table, an attack a row.
 *
 * What attacks is one program a profile, told which attack by name:
 * redoma-attack (intruder/), images/attack.js and images/attack.wasm
 * (guest/attack/); a few modules are bytes of their own. */
#ifndef ATTACK_ROWS_H
#define ATTACK_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include "attack/native_rows.h"

enum attack_profile { ATTACK_JS, ATTACK_WASM, ATTACK_NATIVE, ATTACK_PROFILES };

struct attack_row {
	enum attack_profile profile;
	const char *name;
	const char *title; /* what it tries, for people */
	const char *wall;  /* which one its error came from, if the run came
			      back: native code's ENOSYS is the filter's */
	const char *limit; /* "wall=500ms": narrows the corpus' policy; NULL */
	uint32_t ends;	   /* bits of enum redoma_status that a wall may end it
			      with; 0: it has to come back and say so */
	const void *module; /* wasm: a module of its own; NULL: attack.wasm */
	size_t module_len;
};

extern const struct attack_row attack_rows[];
extern const size_t attack_rows_n;

/* "js", "wasm", "native" */
const char *attack_profile_name(enum attack_profile p);

#endif

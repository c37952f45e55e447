/* attack/word.h - what the process among the canaries shares with its maker. */
#ifndef ATTACK_WORD_H
#define ATTACK_WORD_H

#include <signal.h>
#include "attack/judge.h"

struct canary_word {
	char text[ATTACK_NONCE_ROOM];
	volatile sig_atomic_t signals; /* how many it got */
};

#endif

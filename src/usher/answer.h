/* usher/answer.h - one question of the core, answered. */
#ifndef USHER_ANSWER_H
#define USHER_ANSWER_H

#include "usher/serve.h"

/* Fills u->told and u->fds from u->asked. */
MUST_CHECK int answer_ask(struct usher *u, struct redoma_error *err);
void answer_close(struct usher *u);

#endif

/* attack/canary.h - what of the host an attack is not to touch, and whether it
 * did.  All of it is made for the occasion: a private directory with a file, a
 * granted directory in it that holds a way out of each kind, sockets that
 * listen, shared memory, a process, a variable, a leaked descriptor.  Nonces
 * lie in each; where they come out tells which was read. */
#ifndef ATTACK_CANARY_H
#define ATTACK_CANARY_H

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "attack/judge.h"

#define CANARY_PATH 256

struct canary_word; /* shared with the process */

struct canary {
	char dir[CANARY_PATH];
	char secret[CANARY_PATH + 8]; /* the file */
	char token[ATTACK_NONCE_ROOM]; /* names the processes of an attack */
	char abstract[64];	       /* name of a socket, without the NUL */
	struct attack_nonce nonces[ATTACK_NONCES];
	int listen_abstract, listen_path, listen_tcp, udp;
	uint16_t tcp_port, udp_port;
	int shm; /* identifier */
	int key;
	int leak; /* open on the file, on purpose not CLOEXEC; or -1 */
	pid_t target;
	int target_pidfd;
	struct canary_word *word;
	struct rlimit target_limit;
	struct stat was; /* the file */
	char host_name[65], core_pattern[256];
};

/* On failure what was made is removed.  Sets the variable REDOMA_CANARY of
 * this process. */
MUST_CHECK int canary_make(struct canary *ret, struct redoma_error *err);
/* Notes the names that the host has now. */
void canary_remember(struct canary *c);
/* What was touched since the last look, as a sentence; NULL: nothing. */
const char *canary_touched(struct canary *c);
/* Removes all of it. */
void canary_done(struct canary *c);

#endif

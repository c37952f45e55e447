/* intruder/scene.h - what an attack was told about the host it is not to
 * touch, and how it speaks.
 *
 * An attack returns 0 when it got what it wanted, else the errno that stopped
 * it; what it reads it prints with scene_show.  main says the outcome as one
 * line on standard output: "SUCCESS", "stopped ERRNO", or "tried" where only
 * the host can know. */
#ifndef INTRUDER_SCENE_H
#define INTRUDER_SCENE_H

#include <stdint.h>
#include <sys/types.h>
#include "attack/native_rows.h"

#define TRIED (-1)

struct scene {
	const char *self;     /* its own program */
	const char *secret;   /* a file of the host */
	const char *abstract; /* name of a socket, without the NUL before it */
	const char *token;    /* in the arguments of each of its processes */
	uint16_t tcp, udp;    /* ports of 127.0.0.1 */
	int key;	      /* of shared memory */
	pid_t target;	      /* a process of the host */
	uintptr_t word;	      /* where that one has something to read */
};

#define SHOWN "/shown" /* granted, for reading */
#define OUTPUT "/out"  /* granted, for writing */

/* Prints what can be read there.  0 or errno. */
int scene_show(int fd);
int scene_show_path(const char *path);
/* An open for writing that writes nothing is proof enough.  0 or errno. */
int scene_open_write(const char *path);

#define DECLARE(name, title, wall, limit, ends)                              \
	int name(const struct scene *s);
NATIVE_ROWS(DECLARE)

#endif

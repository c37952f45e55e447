/* native/spawner.h - the trusted parent of native jails: makes their root and
 * their groups once, keeps jails parked, grants, kills and buries.  It reads
 * no byte of a guest.  Single-threaded. */
#ifndef NATIVE_SPAWNER_H
#define NATIVE_SPAWNER_H

#include "wire/frame.h"

#define SPAWNER_CONTROL_FD 3

/* Serves until the core is gone; the exit status of the process. */
int spawner_serve(struct channel *control, char *title);

#endif

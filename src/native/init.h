/* native/init.h - pid 1 of one jail: shows the grants, starts the payload,
 * watches it, collects what it wrote, says what it came to, and is gone.
 *
 * It speaks the worker's protocol with the core (wire/frame.h) and is believed
 * no more than a worker is. */
#ifndef NATIVE_INIT_H
#define NATIVE_INIT_H

#include "jail/native.h"
#include "wire/native.h"

struct init_kit { /* all borrowed from the spawner */
	const struct native_setup *setup;
	struct native *jail;
	struct jail_report report; /* of native_prepare */
	uint32_t cgroups;	   /* enum jail_cgroups */
	char *title;		   /* argv[0], shown in ps */
};

#define INIT_FAILED 70 /* exit status: it could not lock itself */

/* In the child that native_fork made; never returns. */
__attribute__((noreturn)) void init_main(const struct init_kit *k, int sock);

#endif

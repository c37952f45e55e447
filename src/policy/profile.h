/* policy/profile.h - how guest code is compiled: for what, and what it counts.
 * An artefact runs only in an engine of the profile that it was made for. */
#ifndef POLICY_PROFILE_H
#define POLICY_PROFILE_H

#include <stdbool.h>

enum profile {
	PROFILE_IMAGE,	    /* a language image: it polls a word itself */
	PROFILE_IMAGE_FUEL, /* the same, counting fuel */
	PROFILE_MODULE,	    /* any .wasm: epoch checks end it */
	PROFILE_MODULE_FUEL,
	PROFILE_IMAGE_EPOCH, /* a language image that polls no word */
	PROFILES
};

const char *profile_name(enum profile p); /* "image", "module-fuel" */
enum profile profile_find(const char *name); /* PROFILES: there is none */
bool profile_has_fuel(enum profile p);
bool profile_has_epoch(enum profile p);
/* Of a language image, whose artefact is ours; else of a stranger's module. */
bool profile_is_image(enum profile p);

#endif

/* core/image_place.h - where a user's images lie, and what makes one up. */
#ifndef CORE_IMAGE_PLACE_H
#define CORE_IMAGE_PLACE_H

#include "core/handle.h"

#define IMAGE_FILE "image.cwasm"
#define IMAGE_ABOUT "about.json"

/* The directory of an image by name, in the user's data directory.
 * REDOMA_E_UNSUPPORTED: the user has no home. */
MUST_CHECK int image_place(const char *name, char ret[PATH_ROOM],
			   struct redoma_error *err);
/* Is this file or directory the user's or root's, and for nobody else to
 * write?  REDOMA_E_UNSUPPORTED names `what`. */
MUST_CHECK int image_trusted(int fd, const char *what,
			     struct redoma_error *err);

#endif

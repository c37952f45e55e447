/* core/image.h - images that are not built with Redoma but added by a user:
 * where they lie, and whether they may be used.
 *
 * An image is a directory of the user's with image.cwasm and about.json.  Its
 * artefact is loaded outside the walls, as an installed image is, so directory
 * and files must be the user's or root's and nobody else may write them; who
 * can change them all the same can change what the user's shell starts with. */
#ifndef CORE_IMAGE_H
#define CORE_IMAGE_H

#include "core/handle.h"
#include "lang/lang.h"

struct image {
	char path[PATH_ROOM]; /* of the artefact; "": none is used */
	uint64_t memory_bytes; /* of the guest's when a run begins */
};

/* The image that a request asks for by `name`: one of the table, or a directory
 * (with a '/').  NULL: the one whose packages the source imports, if that is
 * installed.  None: ret->path is "".
 * REDOMA_E_INVALID: there is no such image, or not for this language.
 * REDOMA_E_UNSUPPORTED: it is not installed; what to do. */
MUST_CHECK int image_choose(const char *name, const struct lang *lang,
			    struct str source, struct image *ret,
			    struct redoma_error *err);
/* For struct pool_want: such an image is not compiled anew by itself. */
int image_unfit(void *data, const struct redoma_error *why, int *ret_fd,
		struct redoma_error *err);

#endif

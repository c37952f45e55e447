#include "core/fit.h"

#include <string.h>

#define WHERE "core"
#define SIZE_MAX_KNOWN 4096u /* no struct of ours will be longer */

int fit_struct(void *to, size_t ours, const void *from, uint64_t size,
	       struct redoma_error *err)
{
	const unsigned char *p = from;
	uint64_t i;

	if (size < sizeof size || size > SIZE_MAX_KNOWN)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a struct without its size: set it with the "
			       "_INIT macro");
	for (i = ours; i < size; i++)
		if (p[i])
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "a struct of a newer header than this "
				       "library knows, with a member set that "
				       "it does not know");
	memset(to, 0, ours);
	memcpy(to, from, size < ours ? size : ours);
	return 0;
}

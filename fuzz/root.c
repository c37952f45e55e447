/* The entries of a native root: what is accepted is within its caps and writes
 * back the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "wire/native.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct native_item *items;
	struct buf b = {0};
	size_t n;

	if (native_root_decode(data, size, &items, &n, NULL))
		return 0;
	if (n > NATIVE_ENTRIES_MAX)
		abort();
	if (native_root_encode(items, n, &b, NULL) || b.len != size ||
	    memcmp(b.data, data, size) != 0)
		abort();
	free(items);
	buf_done(&b);
	return 0;
}

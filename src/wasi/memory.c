#include "wasi/memory.h"

#include "wasi/abi.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "guest memory is copied as it is");

uint32_t guest_iovs(const struct guest *g, uint32_t ptr, uint32_t count,
		    struct guest_span ret[GUEST_IOVS_MAX], uint32_t *ret_n)
{
	uint64_t total = 0;
	uint32_t n = 0;

	if (count > GUEST_IOVS_MAX)
		return W_INVAL;
	if (!guest_has_array(g, ptr, count, SIZE_IOVEC))
		return W_FAULT;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = guest_u32(g, ptr + i * SIZE_IOVEC);
		uint32_t len = guest_u32(g, ptr + i * SIZE_IOVEC + 4);

		if (!guest_has(g, at, len))
			return W_FAULT;
		total += len;
		if (len)
			ret[n++] = (struct guest_span){g->base + at, len};
	}
	if (total > UINT32_MAX)
		return W_INVAL;
	*ret_n = n;
	return W_SUCCESS;
}

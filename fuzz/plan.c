/* A plan as bytes, with none to three descriptors (the first byte says how
 * many): what is accepted is within its caps, took exactly the descriptors,
 * and writes back the same bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire/plan_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int what)
{
	if (!what)
		abort();
}

static void check(struct plan *p, const uint8_t *data, size_t size,
		  const int *fds, size_t n)
{
	int again[FRAME_FDS_MAX];
	struct buf b = {0};
	size_t n_again;

	require(p->n_grants <= PLAN_GRANTS_MAX);
	require(!plan_encode(p, &b, again, &n_again, NULL));
	require(b.len == size && !memcmp(b.data, data, size));
	require(n_again == n && !memcmp(again, fds, n * sizeof *fds));
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Numbers that no process has: closing them does nothing. */
	static const int fds[3] = {1000001, 1000002, 1000003};
	struct plan p;
	size_t n;

	if (!size)
		return 0;
	n = data[0] & 3;
	if (plan_decode(data + 1, size - 1, fds, n, &p, NULL))
		return 0;
	check(&p, data + 1, size - 1, fds, n);
	plan_done(&p);
	return 0;
}

/* An outcome from a hostile worker: what is accepted is within its caps and
 * writes back the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "wire/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf b = {0};
	struct outcome o, again;

	if (outcome_decode(data, size, &o, NULL))
		return 0;
	if (o.n_denials > OUTCOME_DENIALS_MAX ||
	    o.n_written > OUTCOME_WRITTEN_MAX)
		abort();
	if (outcome_encode(&o, &b, NULL) ||
	    outcome_decode(b.data, b.len, &again, NULL))
		abort();
	outcome_done(&again);
	outcome_done(&o);
	buf_done(&b);
	return 0;
}

/* The answer to a batch, which is a guest's word: what is accepted is read to
 * its last cell. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/sheet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sheet_part part = {(const char *)data, size, 0, 0, 0};
	uint32_t n[2] = {0};

	/* What was asked for is the core's own to know. */
	if (size >= 12)
		memcpy(n, data + 4, sizeof n);
	part.rows = n[0];
	part.formulas = n[1];
	if (!sheet_check(&part))
		return 0;
	for (uint64_t f = 0; f < part.formulas; f++) {
		for (uint64_t i = 0; i < part.rows; i++) {
			struct redoma_cell c = sheet_cell(&part, f, i);

			if (c.kind > REDOMA_CELL_ERROR)
				abort();
			for (uint64_t k = 0; k < c.len; k++)
				sum += (unsigned char)c.text[k];
		}
	}
	return 0;
}

/* freeze/code.h - reading WebAssembly binaries as far as the making of an image
 * must.
 *
 * Source: WebAssembly Core Specification 3.0, chapter 5 (binary format).
 * A reader that meets what it does not know says so in `wrong` and is at its
 * end: an instruction that cannot be decoded may not be skipped. */
#ifndef FREEZE_CODE_H
#define FREEZE_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code_reader {
	const uint8_t *p, *end;
	const char *wrong; /* static text, the first; NULL: nothing so far */
};

uint8_t code_byte(struct code_reader *r);
uint32_t code_u32(struct code_reader *r);
/* Steps over n bytes; returns where they begin, or NULL. */
const uint8_t *code_skip(struct code_reader *r, size_t n);
/* Steps over one constant expression. */
void code_expression(struct code_reader *r);
/* NULL, or why not: a code section with an instruction that changes a table,
 * drops a segment or reads one. */
const char *code_check(struct code_reader section);

#endif

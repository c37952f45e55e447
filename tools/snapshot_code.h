/* snapshot_code.h - reading WebAssembly binaries as far as snapshot must.
 *
 * Source: WebAssembly Core Specification 3.0, chapter 5 (binary format).
 * Every reader ends the program with a sentence on input it does not know:
 * an instruction that cannot be decoded may not be skipped. */
#ifndef SNAPSHOT_CODE_H
#define SNAPSHOT_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code_reader {
	const uint8_t *p, *end;
};

_Noreturn void snapshot_fail(const char *text);

uint8_t code_byte(struct code_reader *r);
uint32_t code_u32(struct code_reader *r);
/* Steps over n bytes; returns where they begin. */
const uint8_t *code_skip(struct code_reader *r, size_t n);
/* Steps over one constant expression. */
void code_expression(struct code_reader *r);
/* Refuses a code section with an instruction that changes a table, drops a
 * segment or reads one. */
void code_check(struct code_reader section);

#endif

/* freeze/section.h - a module as a row of sections, and the writing of one. */
#ifndef FREEZE_SECTION_H
#define FREEZE_SECTION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/str.h"
#include "freeze/code.h"

#define SECTION_PAGE 65536u

enum section_id {
	SECTION_CUSTOM,
	SECTION_TYPE,
	SECTION_IMPORT,
	SECTION_FUNCTION,
	SECTION_TABLE,
	SECTION_MEMORY,
	SECTION_GLOBAL,
	SECTION_EXPORT,
	SECTION_START,
	SECTION_ELEMENT,
	SECTION_CODE,
	SECTION_DATA,
	SECTION_DATA_COUNT,
	SECTION_TAG,
	SECTION_IDS
};

/* REDOMA_E_INVALID: this is no core module, or a section is cut off. */
MUST_CHECK int section_check(struct str wasm, struct redoma_error *err);
/* The bytes behind the header of a module that was checked. */
struct code_reader section_first(struct str wasm);
/* The next one's number and body; false: there is none. */
bool section_next(struct code_reader *r, uint8_t *ret_id,
		  struct code_reader *ret_body);

/* Each 0, or -1: no memory. */
MUST_CHECK int put_u32(struct buf *b, uint64_t v);
MUST_CHECK int put_s32(struct buf *b, int32_t v);
MUST_CHECK int put_section(struct buf *b, uint8_t id, const struct buf *body);

#endif

/* text.h - encodings. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

/* UTF-8 of one code point into b (4 bytes); its length. */
size_t text_utf8(char *b, uint32_t c);
/* Base64 with padding; b holds (n + 2) / 3 * 4 bytes.  Returns the length. */
size_t text_base64(char *b, const uint8_t *p, size_t n);
/* Decodes what atob or Buffer would: both alphabets, blanks skipped, ends at
 * padding.  b holds n / 4 * 3 + 3 bytes.  Returns the length. */
size_t text_unbase64(uint8_t *b, const char *p, size_t n);
/* ISO 8601 in UTC with milliseconds; b holds 40 bytes. */
void text_date(char *b, double ms);
/* Halves of surrogate pairs, which the engine writes as three bytes each,
 * become U+FFFD, as long. */
void text_mend(char *p, size_t n);
/* True if n bytes are UTF-8 without overlong forms and surrogates. */
int text_is_utf8(const uint8_t *p, size_t n);

#endif

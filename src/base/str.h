/* base/str.h - a borrowed view of bytes that need not end in NUL. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
	const char *p; /* borrowed; NULL only with len 0 */
	size_t len;
};

/* A view of a string literal. */
#define STR(lit) ((struct str){"" lit, sizeof(lit) - 1})

static inline struct str str_of(const char *s)
{
	return (struct str){s, strlen(s)};
}

static inline bool str_equal(struct str a, struct str b)
{
	return a.len == b.len && (!a.len || !memcmp(a.p, b.p, a.len));
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len &&
	       str_equal((struct str){s.p, prefix.len}, prefix);
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len &&
	       str_equal((struct str){s.p + (s.len - suffix.len), suffix.len},
			 suffix);
}

/* What is left after n bytes; nothing if there are fewer. */
static inline struct str str_after(struct str s, size_t n)
{
	return n < s.len ? (struct str){s.p + n, s.len - n} : (struct str){0};
}

/* Without the blanks and tabs around it. */
struct str str_trim(struct str s);
/* True if s has no other characters than those of `set`. */
bool str_only(struct str s, const char *set);

/* Splits at the first or the last c, which belongs to neither part.  False,
 * and the outputs untouched, if there is none.  The parts are never NULL. */
bool str_split(struct str s, char c, struct str *ret_a, struct str *ret_b);
bool str_split_last(struct str s, char c, struct str *ret_a,
		    struct str *ret_b);

/* How many bytes at the start of s are of one name: letters, digits, _, $ and
 * bytes of other alphabets. */
size_t str_name(struct str s);
/* True if `word` stands in s, neither behind nor before a letter, a digit, _, $
 * or a byte of another alphabet; *ret_end is behind its first place. */
bool str_has_word(struct str s, struct str word, size_t *ret_end);

/* The length, 1 to 4, of the UTF-8 sequence that n bytes at p begin with, or
 * 0: malformed, overlong, a surrogate, beyond U+10FFFF (RFC 3629), or n is
 * 0. */
size_t str_utf8(const char *p, size_t n);
bool str_is_utf8(struct str s);
/* True if s is UTF-8 without control characters (C0, DEL, C1) and without
 * U+2028 and U+2029: what may stand in a name or on one line. */
bool str_is_plain(struct str s);

/* Writes s between double quotes into dst, cut with "..." where dst is full,
 * everything but plain characters (above) as \xNN: outside bytes in an error
 * text.  Returns dst. */
#define STR_SHOWN_MAX 80
const char *str_show(struct str s, char dst[STR_SHOWN_MAX]);
/* The same in storage that lasts until the end of the enclosing block. */
#define SHOW(s) str_show((s), (char[STR_SHOWN_MAX]){0})

#endif

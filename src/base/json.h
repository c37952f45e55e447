/* base/json.h - JSON (RFC 8259), in and out.
 *
 * Reading is strict: one value, UTF-8, no comments, no trailing commas, no
 * byte order mark, no lone surrogate escapes, no duplicate keys (compared
 * after unescaping), at most JSON_DEPTH_MAX levels and JSON_TEXT_MAX bytes.
 * Numbers keep their digits: any number of the grammar is accepted and is
 * converted only when asked for.  Errors are REDOMA_E_INVALID and name line
 * and column, both from 1; columns count bytes. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define JSON_DEPTH_MAX 1000
#define JSON_TEXT_MAX ((size_t)256 << 20)

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json_doc;   /* owns every value and string read from it */
struct json_value; /* borrowed from its document */

/* The text is copied: it may go away afterwards. */
MUST_CHECK int json_parse(const char *text, size_t len, struct json_doc **ret,
			  struct redoma_error *err);
void json_free(struct json_doc *doc); /* NULL is fine */
static inline void json_cleanup(struct json_doc **doc)
{
	json_free(*doc);
}
/* 0 if text is one valid value under the rules above. */
MUST_CHECK int json_validate(const char *text, size_t len,
			     struct redoma_error *err);

/* Every getter takes NULL, and a value of another kind, and then says
 * "nothing": false, 0, NULL. */
const struct json_value *json_root(const struct json_doc *doc);
enum json_kind json_kind(const struct json_value *v); /* NULL: JSON_NULL */
bool json_is_true(const struct json_value *v);
/* The bytes of a string (NUL-terminated, may hold NULs). */
const char *json_string(const struct json_value *v, size_t *ret_len);
/* The digits of a number as they were written (NUL-terminated). */
const char *json_digits(const struct json_value *v, size_t *ret_len);
/* True if v is a number that fits exactly and is written as an integer
 * (no fraction, no exponent). */
bool json_u64(const struct json_value *v, uint64_t *ret);
bool json_i64(const struct json_value *v, int64_t *ret);
/* The nearest double; false if that is not finite (1e400). */
bool json_double(const struct json_value *v, double *ret);
size_t json_count(const struct json_value *v); /* elements or members */
/* A member by name, or NULL; linear in the number of members. */
const struct json_value *json_member(const struct json_value *v,
				     const char *name);

/* Walks an array or an object, in order:
 *	struct json_iter it = json_iter(v);
 *	while (json_next(&it))
 *		use(it.key, it.value);
 */
struct json_iter {
	const struct json_value *key; /* a string; NULL in an array */
	const struct json_value *value;
	const struct json_value *next_; /* private */
	size_t left_;                   /* private */
	bool object_;                   /* private */
};
struct json_iter json_iter(const struct json_value *v);
bool json_next(struct json_iter *it);

/* Where a value of doc begins in the text it was parsed from, in bytes (in a
 * string: after the quote).  False, and the output untouched, for all but
 * strings, keys and numbers. */
bool json_offset(const struct json_doc *doc, const struct json_value *v,
		 size_t *ret);
/* Line and column, both from 1, of a byte of text. */
void json_position(const char *text, size_t offset, int *ret_line,
		   int *ret_column);

/* Appends one JSON string, quotes included.  Invalid UTF-8 becomes U+FFFD, one
 * for each maximal part that no character can begin with (as WHATWG decoders
 * do); control characters, DEL to U+009F, U+2028, U+2029, U+FEFF, U+FFFE and
 * U+FFFF are escaped, so that it is a YAML double-quoted scalar too.  0, or
 * -1 when the cap or memory is exceeded; b then holds what it held before. */
MUST_CHECK int json_put_string(struct buf *b, const char *p, size_t len);

/* Writes a document piece by piece; commas and colons come by themselves.
 * All zero but buf is a fresh writer.  Failure sticks and is told at the end
 * by json_write_done; what buf holds then is of no use.
 *	struct json_writer w = {.buf = &b};
 *	json_write_begin(&w, '{');
 *	json_write_key(&w, "status");
 *	json_write_text(&w, "ok");
 *	json_write_end(&w, '}');
 *	if (json_write_done(&w)) ... */
struct json_writer {
	struct buf *buf; /* borrowed */
	size_t depth;    /* private, like all below */
	bool comma;
	bool failed;
};
void json_write_begin(struct json_writer *w, char open); /* '{' or '[' */
void json_write_end(struct json_writer *w, char close);  /* '}' or ']' */
void json_write_key(struct json_writer *w, const char *key);
void json_write_key_n(struct json_writer *w, const char *key, size_t len);
void json_write_string(struct json_writer *w, const char *p, size_t len);
void json_write_text(struct json_writer *w, const char *s); /* NULL: null */
void json_write_u64(struct json_writer *w, uint64_t n);
void json_write_i64(struct json_writer *w, int64_t n);
/* Shortest digits that read back the same; null if not finite. */
void json_write_double(struct json_writer *w, double n);
void json_write_bool(struct json_writer *w, bool b);
void json_write_null(struct json_writer *w);
/* Text that is known to be one valid JSON value. */
void json_write_raw(struct json_writer *w, const char *json, size_t len);
/* A value that was read, digits of numbers as they stand. */
void json_write_value(struct json_writer *w, const struct json_value *v);
/* 0, or -1 if anything failed or a container is still open. */
MUST_CHECK int json_write_done(const struct json_writer *w);

#endif

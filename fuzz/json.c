/* JSON from outside: reading and judging agree, and what was read is written
 * and read back the same. */
#include <stdlib.h>
#include <string.h>
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Levels are at most JSON_DEPTH_MAX, or it would not have parsed. */
static void write_value(struct json_writer *w, const struct json_value *v)
{
	enum json_kind kind = json_kind(v);
	size_t len;
	const char *s;

	if (kind == JSON_STRING) {
		s = json_string(v, &len);
		json_write_string(w, s, len);
	} else if (kind == JSON_NUMBER) {
		s = json_digits(v, &len);
		json_write_raw(w, s, len);
	} else if (kind == JSON_BOOL) {
		json_write_bool(w, json_is_true(v));
	} else if (kind == JSON_NULL) {
		json_write_null(w);
	} else {
		json_write_begin(w, kind == JSON_ARRAY ? '[' : '{');
		struct json_iter it = json_iter(v);
		while (json_next(&it)) {
			s = json_string(it.key, &len);
			if (s)
				json_write_key_n(w, s, len);
			write_value(w, it.value);
		}
		json_write_end(w, kind == JSON_ARRAY ? ']' : '}');
	}
}

static char *written(const char *text, size_t len, size_t *ret_len)
{
	struct json_doc *doc;
	struct buf b = {0};
	struct json_writer w = {.buf = &b};

	if (json_parse(text, len, &doc, NULL))
		return NULL;
	write_value(&w, json_root(doc));
	if (json_write_done(&w))
		abort();
	json_free(doc);
	*ret_len = b.len;
	return buf_take(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t first_len, second_len;
	struct redoma_error err = {0};
	char *first = written((const char *)data, size, &first_len);
	int judged = json_validate((const char *)data, size, &err);

	if ((judged == 0) != (first != NULL))
		abort();
	if (judged && !err.text[0])
		abort();
	if (!first)
		return 0;
	char *second = written(first, first_len, &second_len);
	if (!second || first_len != second_len ||
	    memcmp(first, second, first_len))
		abort();
	free(first);
	free(second);
	return 0;
}

/* JSON text.  What is accepted is written again from its values and read as the
 * same; every string that is written is read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int what)
{
	if (!what)
		abort();
}

static void write_value(struct json_writer *w, const struct json_value *v)
{
	bool object = json_kind(v) == JSON_OBJECT;
	struct json_iter it = json_iter(v);
	size_t len = 0, n = 0;
	const char *p;

	switch (json_kind(v)) {
	case JSON_NULL:
		json_write_null(w);
		return;
	case JSON_BOOL:
		json_write_bool(w, json_is_true(v));
		return;
	case JSON_NUMBER:
		p = json_digits(v, &len);
		json_write_raw(w, p, len);
		return;
	case JSON_STRING:
		p = json_string(v, &len);
		json_write_string(w, p, len);
		return;
	default:
		break;
	}
	json_write_begin(w, object ? '{' : '[');
	while (json_next(&it)) {
		if (object) {
			p = json_string(it.key, &len);
			json_write_key_n(w, p, len);
		}
		write_value(w, it.value);
		n++;
	}
	require(n == json_count(v));
	json_write_end(w, object ? '}' : ']');
}

static void write_document(const struct json_doc *d, struct buf *b)
{
	struct json_writer w = {.buf = b};

	write_value(&w, json_root(d));
	require(json_write_done(&w) == 0);
}

static void read_again(const struct json_doc *d)
{
	struct buf a = {0}, b = {0};
	struct json_doc *again = NULL;

	write_document(d, &a);
	require(json_parse(a.data, a.len, &again, NULL) == 0);
	write_document(again, &b);
	require(a.len == b.len && !memcmp(a.data, b.data, a.len));
	json_free(again);
	buf_done(&a);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redoma_error err = {0};
	struct json_doc *d = NULL;
	struct buf s = {0};
	int e = json_parse((const char *)data, size, &d, &err);

	require(json_validate((const char *)data, size, NULL) == e);
	if (e)
		require(err.code == REDOMA_E_INVALID && err.text[0]);
	else
		read_again(d);
	json_free(d);
	require(json_put_string(&s, (const char *)data, size) == 0);
	require(json_validate(s.data, s.len, NULL) == 0);
	buf_done(&s);
	return 0;
}

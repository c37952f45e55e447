#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "base/cleanup.h"

#define WHERE "json"
/* In place, so that strings and digits tell their offset; digits as written,
 * so that no number loses precision or is refused for its size. */
#define FLAGS (YYJSON_READ_INSITU | YYJSON_READ_NUMBER_AS_RAW)
#define FEW_KEYS 8

struct json_doc {
	char *text; /* owned; the parser works in it */
	size_t len;
	yyjson_doc *doc; /* owned; strings point into text */
};

/* The library's type is not const-correct; nothing here writes. */
static yyjson_val *raw(const struct json_value *v)
{
	return (yyjson_val *)(uintptr_t)v;
}

static const struct json_value *value(const yyjson_val *v)
{
	return (const struct json_value *)(const void *)v;
}

void json_position(const char *text, size_t offset, int *ret_line,
		   int *ret_column)
{
	size_t start = 0;
	int line = 1;

	for (size_t i = 0; i < offset; i++) {
		if (text[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	*ret_line = line;
	*ret_column = (int)(offset - start) + 1;
}

static int refuse(struct redoma_error *err, const char *text, size_t offset,
		  const char *what)
{
	int line, column;

	json_position(text, offset, &line, &column);
	return err_set(err, REDOMA_E_INVALID, WHERE, "line %d column %d: %s",
		       line, column, what);
}

/* The end of the string whose opening quote is at p[i]. */
static size_t skip_string(const char *p, size_t i, size_t len)
{
	for (i++; i < len && p[i] != '"'; i++) {
		if (p[i] == '\\')
			i++;
	}
	return i;
}

/* Before anything is allocated for the brackets. */
static int check_depth(const char *p, size_t len, struct redoma_error *err)
{
	size_t depth = 0;

	for (size_t i = 0; i < len; i++) {
		switch (p[i]) {
		case '"':
			i = skip_string(p, i, len);
			break;
		case '[':
		case '{':
			if (++depth > JSON_DEPTH_MAX)
				return refuse(err, p, i,
					      "nested deeper than 1000 levels; "
					      "make the value flatter");
			break;
		case ']':
		case '}':
			depth -= depth > 0;
			break;
		}
	}
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	const yyjson_val *ka = *(yyjson_val *const *)a;
	const yyjson_val *kb = *(yyjson_val *const *)b;
	size_t la = unsafe_yyjson_get_len((void *)(uintptr_t)ka);
	size_t lb = unsafe_yyjson_get_len((void *)(uintptr_t)kb);
	int d;

	if (la != lb)
		return la < lb ? -1 : 1;
	d = la ? memcmp(ka->uni.str, kb->uni.str, la) : 0;
	if (d)
		return d;
	/* The later of two equal keys is the one to report. */
	return ka < kb ? -1 : ka > kb;
}

static bool same_key(yyjson_val *a, yyjson_val *b)
{
	size_t len = unsafe_yyjson_get_len(a);

	return len == unsafe_yyjson_get_len(b) &&
	       (!len || !memcmp(a->uni.str, b->uni.str, len));
}

static yyjson_val *twin_of_few(yyjson_val **keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (same_key(keys[i], keys[k]))
				return keys[i];
		}
	}
	return NULL;
}

static yyjson_val *twin_of_many(yyjson_val **keys, size_t n)
{
	qsort(keys, n, sizeof *keys, by_bytes);
	for (size_t i = 1; i < n; i++) {
		if (same_key(keys[i - 1], keys[i]))
			return keys[i];
	}
	return NULL;
}

/* *ret is the second of two equal keys of one object, or NULL. */
static int find_twin(yyjson_val *object, yyjson_val **ret)
{
	yyjson_val *few[FEW_KEYS], **keys = few, *key;
	size_t n = unsafe_yyjson_get_len(object);
	void *many = NULL;

	*ret = NULL;
	if (n < 2)
		return 0;
	if (n > FEW_KEYS) {
		many = malloc(n * sizeof *keys);
		if (!many)
			return -1;
		keys = many;
	}
	key = unsafe_yyjson_get_first(object);
	for (size_t i = 0; i < n; i++) {
		keys[i] = key;
		key = unsafe_yyjson_get_next(key + 1);
	}
	*ret = many ? twin_of_many(keys, n) : twin_of_few(keys, n);
	free(many);
	return 0;
}

/* A document's values are one array in reading order. */
static int check_twins(const struct json_doc *d, const char *text,
		       struct redoma_error *err)
{
	yyjson_val *v = yyjson_doc_get_root(d->doc), *twin;
	size_t n = yyjson_doc_get_val_count(d->doc);

	for (size_t i = 0; i < n; i++) {
		if (!unsafe_yyjson_is_obj(v + i))
			continue;
		if (find_twin(v + i, &twin))
			return err_nomem(err, WHERE);
		if (twin)
			return refuse(err, text,
				      (size_t)(twin->uni.str - d->text),
				      "the key appears twice in one object; "
				      "keep one of them");
	}
	return 0;
}

static int read_text(struct json_doc *d, const char *text,
		     struct redoma_error *err)
{
	yyjson_read_err e;

	d->doc = yyjson_read_opts(d->text, d->len, FLAGS, NULL, &e);
	if (d->doc)
		return check_twins(d, text, err);
	if (e.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		return err_nomem(err, WHERE);
	return refuse(err, text, e.pos < d->len ? e.pos : d->len, e.msg);
}

int json_parse(const char *text, size_t len, struct json_doc **ret,
	       struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *d = NULL;
	int e;

	if (!len)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the text is empty; write a value, for "
			       "example null");
	if (len > JSON_TEXT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the text has %zu bytes; at most 256 MiB are "
			       "read", len);
	e = check_depth(text, len, err);
	if (e)
		return e;
	d = calloc(1, sizeof *d);
	if (!d)
		return err_nomem(err, WHERE);
	d->len = len;
	d->text = malloc(len + YYJSON_PADDING_SIZE);
	if (!d->text)
		return err_nomem(err, WHERE);
	memcpy(d->text, text, len);
	memset(d->text + len, 0, YYJSON_PADDING_SIZE);
	e = read_text(d, text, err);
	if (e)
		return e;
	*ret = TAKE_PTR(d);
	return 0;
}

void json_free(struct json_doc *doc)
{
	if (!doc)
		return;
	yyjson_doc_free(doc->doc);
	free(doc->text);
	free(doc);
}

int json_validate(const char *text, size_t len, struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *d = NULL;

	return json_parse(text, len, &d, err);
}

const struct json_value *json_root(const struct json_doc *doc)
{
	return doc ? value(yyjson_doc_get_root(doc->doc)) : NULL;
}

enum json_kind json_kind(const struct json_value *v)
{
	switch (yyjson_get_type(raw(v))) {
	case YYJSON_TYPE_BOOL:
		return JSON_BOOL;
	case YYJSON_TYPE_RAW:
		return JSON_NUMBER;
	case YYJSON_TYPE_STR:
		return JSON_STRING;
	case YYJSON_TYPE_ARR:
		return JSON_ARRAY;
	case YYJSON_TYPE_OBJ:
		return JSON_OBJECT;
	default:
		return JSON_NULL;
	}
}

bool json_is_true(const struct json_value *v)
{
	return yyjson_is_true(raw(v));
}

const char *json_string(const struct json_value *v, size_t *ret_len)
{
	if (!yyjson_is_str(raw(v)))
		return NULL;
	*ret_len = yyjson_get_len(raw(v));
	return yyjson_get_str(raw(v));
}

const char *json_digits(const struct json_value *v, size_t *ret_len)
{
	if (!yyjson_is_raw(raw(v)))
		return NULL;
	*ret_len = yyjson_get_len(raw(v));
	return yyjson_get_raw(raw(v));
}

/* Digits alone, without a sign, up to max. */
static bool read_integer(const char *p, size_t len, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned)p[i] - '0';

		if (digit > 9 || n > max / 10 || n * 10 > max - digit)
			return false;
		n = n * 10 + digit;
	}
	*ret = n;
	return true;
}

bool json_u64(const struct json_value *v, uint64_t *ret)
{
	size_t len;
	const char *p = json_digits(v, &len);

	return p && read_integer(p, len, UINT64_MAX, ret);
}

bool json_i64(const struct json_value *v, int64_t *ret)
{
	size_t len;
	const char *p = json_digits(v, &len);
	uint64_t n;

	if (!p)
		return false;
	if (p[0] != '-') {
		if (!read_integer(p, len, INT64_MAX, &n))
			return false;
		*ret = (int64_t)n;
		return true;
	}
	if (!read_integer(p + 1, len - 1, (uint64_t)INT64_MAX + 1, &n))
		return false;
	*ret = (int64_t)(0 - n);
	return true;
}

bool json_double(const struct json_value *v, double *ret)
{
	size_t len;
	const char *p = json_digits(v, &len);
	yyjson_val n;

	if (!p || !yyjson_read_number(p, &n, 0, NULL, NULL))
		return false;
	*ret = yyjson_get_num(&n);
	return true;
}

size_t json_count(const struct json_value *v)
{
	return yyjson_is_ctn(raw(v)) ? yyjson_get_len(raw(v)) : 0;
}

const struct json_value *json_member(const struct json_value *v,
				     const char *name)
{
	return value(yyjson_obj_get(raw(v), name));
}

struct json_iter json_iter(const struct json_value *v)
{
	struct json_iter it = {0};

	it.left_ = json_count(v);
	it.object_ = yyjson_is_obj(raw(v));
	if (it.left_)
		it.next_ = value(unsafe_yyjson_get_first(raw(v)));
	return it;
}

bool json_next(struct json_iter *it)
{
	yyjson_val *v = raw(it->next_);

	if (!it->left_)
		return false;
	it->left_--;
	it->key = it->object_ ? value(v++) : NULL;
	it->value = value(v);
	it->next_ = value(unsafe_yyjson_get_next(v));
	return true;
}

bool json_offset(const struct json_doc *doc, const struct json_value *v,
		 size_t *ret)
{
	size_t len;
	const char *p = json_string(v, &len);

	if (!p)
		p = json_digits(v, &len);
	if (!p)
		return false;
	*ret = (size_t)(p - doc->text);
	return true;
}

/* Not by printf: its decimal point is the locale's. */
void json_write_double(struct json_writer *w, double n)
{
	yyjson_val v = {0};
	size_t len;
	char *text;

	if (!isfinite(n)) {
		json_write_null(w);
		return;
	}
	yyjson_set_real(&v, n);
	text = yyjson_val_write(&v, 0, &len);
	if (text)
		json_write_raw(w, text, len);
	else
		w->failed = true;
	free(text);
}

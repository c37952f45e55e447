/* The text of a value of plain types, as carry.py would print it.
 *
 * Whatever is not plain (a subclass, a tag, half of a surrogate pair, a value
 * nested deeply) is left to carry.py: the whole value then, so that there is
 * one place that says what cannot be carried. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"

#define DEPTH_MAX 100
#define INT_MAX_EXACT 9007199254740991LL /* 2^53 - 1 */

struct printer {
	char *p;
	size_t len, cap;
	int depth;
};

static bool print_value(struct printer *s, PyObject *v);

static bool put(struct printer *s, const char *p, size_t n)
{
	if (n > s->cap - s->len) {
		size_t cap = (s->len + n) * 2 + 64;
		char *more = realloc(s->p, cap);

		if (!more)
			return false;
		s->p = more;
		s->cap = cap;
	}
	memcpy(s->p + s->len, p, n);
	s->len += n;
	return true;
}

static bool put_text(struct printer *s, const char *p)
{
	return put(s, p, strlen(p));
}

static bool put_escape(struct printer *s, unsigned char c)
{
	static const char names[] = "btn?fr", hex[] = "0123456789abcdef";
	char b[6] = { '\\', (char)c };

	if (c == '"' || c == '\\')
		return put(s, b, 2);
	if (c >= 8 && c <= 13 && c != 11) {
		b[1] = names[c - 8];
		return put(s, b, 2);
	}
	memcpy(b + 1, "u00", 3);
	b[4] = hex[c >> 4];
	b[5] = hex[c & 15];
	return put(s, b, 6);
}

static bool print_text(struct printer *s, PyObject *v)
{
	Py_ssize_t n, from = 0;
	const char *p = PyUnicode_AsUTF8AndSize(v, &n);

	if (!p || !put(s, "\"", 1))
		return false;
	for (Py_ssize_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c >= 32 && c != '"' && c != '\\')
			continue;
		if (!put(s, p + from, (size_t)(i - from)) || !put_escape(s, c))
			return false;
		from = i + 1;
	}
	return put(s, p + from, (size_t)(n - from)) && put(s, "\"", 1);
}

static bool print_int(struct printer *s, PyObject *v)
{
	int over;
	long long n = PyLong_AsLongLongAndOverflow(v, &over);
	char b[24];

	if (over || n > INT_MAX_EXACT || n < -INT_MAX_EXACT)
		return false;
	snprintf(b, sizeof(b), "%lld", n);
	return put_text(s, b);
}

static bool print_float(struct printer *s, PyObject *v)
{
	double d = PyFloat_AS_DOUBLE(v);
	char *text, b[24];
	bool ok;

	if (!isfinite(d) || (d == 0 && signbit(d)))
		return false;
	if (d == floor(d) && fabs(d) <= (double)INT_MAX_EXACT) {
		snprintf(b, sizeof(b), "%lld", (long long)d);
		return put_text(s, b);
	}
	text = PyOS_double_to_string(d, 'r', 0, 0, NULL);
	ok = text && put_text(s, text);
	PyMem_Free(text);
	return ok;
}

static bool print_items(struct printer *s, PyObject *v)
{
	Py_ssize_t n = PySequence_Fast_GET_SIZE(v);

	if (!put(s, "[", 1))
		return false;
	for (Py_ssize_t i = 0; i < n; i++)
		if ((i && !put(s, ",", 1)) ||
		    !print_value(s, PySequence_Fast_GET_ITEM(v, i)))
			return false;
	return put(s, "]", 1);
}

static bool print_dict(struct printer *s, PyObject *v)
{
	PyObject *key, *item;
	Py_ssize_t at = 0;
	bool first = true;

	if (!put(s, "{", 1))
		return false;
	while (PyDict_Next(v, &at, &key, &item)) {
		if (!PyUnicode_CheckExact(key) ||
		    PyUnicode_EqualToUTF8(key, "$redoma") ||
		    (!first && !put(s, ",", 1)) || !print_text(s, key) ||
		    !put(s, ":", 1) || !print_value(s, item))
			return false;
		first = false;
	}
	return put(s, "}", 1);
}

static bool print_nested(struct printer *s, PyObject *v)
{
	bool ok;

	if (++s->depth > DEPTH_MAX)
		return false;
	if (PyDict_CheckExact(v))
		ok = print_dict(s, v);
	else
		ok = (PyList_CheckExact(v) || PyTuple_CheckExact(v)) &&
		     print_items(s, v);
	s->depth--;
	return ok;
}

static bool print_value(struct printer *s, PyObject *v)
{
	if (v == Py_None)
		return put_text(s, "null");
	if (PyBool_Check(v))
		return put_text(s, v == Py_True ? "true" : "false");
	if (PyUnicode_CheckExact(v))
		return print_text(s, v);
	if (PyLong_CheckExact(v))
		return print_int(s, v);
	if (PyFloat_CheckExact(v))
		return print_float(s, v);
	return print_nested(s, v);
}

static bool give(struct printer *s, bool ok, const char **ret, size_t *ret_len)
{
	if (!ok) {
		PyErr_Clear();
		free(s->p);
		return false;
	}
	*ret = s->p;
	*ret_len = s->len;
	return true;
}

bool value_print(PyObject *v, const char **ret, size_t *ret_len)
{
	struct printer s = { 0 };

	return give(&s, print_value(&s, v), ret, ret_len);
}

bool value_print_call(PyObject *tool, PyObject *args, const char **ret,
		      size_t *ret_len)
{
	struct printer s = { 0 };
	Py_ssize_t n;
	const char *p = PyUnicode_AsUTF8AndSize(tool, &n);
	bool ok = p && !memchr(p, 0, (size_t)n) && put(&s, p, (size_t)n + 1) &&
		  (args ? print_value(&s, args) : put_text(&s, "{}"));

	return give(&s, ok, ret, ret_len);
}

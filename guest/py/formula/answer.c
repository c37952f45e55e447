/* What goes back: a kind and 8 bytes for each cell, texts behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formula.h"
#include <datetime.h>

#define ANSWER_MAX (64u << 20)
#define MESSAGE_MAX 200
#define CODE_MAX 12
#define PROBE (1u << 20) /* a row that fails must leave this much memory */

int answer_begin(void)
{
	size_t n = table.head.rows, f = table.head.formulas;
	size_t kinds = sizeof(struct answer_head) +
		       sizeof(struct answer_words) * f;
	size_t values = (kinds + f * n + 7) & ~(size_t)7;
	struct answer_head head = { ANSWER_MAGIC, (uint32_t)n, (uint32_t)f, 0,
				    0, 0 };

	if (!PyDateTimeAPI)
		PyDateTime_IMPORT;
	table.heap_at = values + 8 * f * n;
	head.heap = (uint32_t)table.heap_at;
	table.answer_room = table.heap_at + 1024;
	table.answer = malloc(table.answer_room);
	if (!table.answer)
		return -1;
	memset(table.answer, 0, table.heap_at);
	memcpy(table.answer, &head, sizeof(head));
	table.answer_len = table.heap_at;
	for (size_t i = 0; i < f; i++) {
		struct answer_words w = { (uint32_t)(kinds + i * n),
					  (uint32_t)(values + 8 * i * n) };
		const struct formula_words *fw = &table.formulas[i].words;

		memcpy(table.answer + sizeof(head) + sizeof(w) * i, &w,
		       sizeof(w));
		table.columns[table.head.columns + i] = (struct formula_column){
			.name = table.base + fw->name,
			.name_len = fw->name_len,
			.layout = LAYOUT_CELLS,
			.kinds = (uint8_t *)table.answer + w.kinds,
			.values = table.answer + w.values,
			.answer = true};
	}
	return 0;
}

void answer_note(uint32_t bits)
{
	struct answer_head *head = (struct answer_head *)(void *)table.answer;

	head->bits |= bits;
}

void answer_count(uint32_t cells)
{
	struct answer_head *head = (struct answer_head *)(void *)table.answer;

	head->columnar += cells;
}

static int more_room(size_t n)
{
	size_t room = 2 * (table.answer_room + n);
	char *q = realloc(table.answer, room);

	if (!q)
		return -1;
	for (uint32_t i = 0; i < table.head.formulas; i++) {
		struct formula_column *c =
			&table.columns[table.head.columns + i];

		c->kinds = (uint8_t *)q + (c->kinds - (uint8_t *)table.answer);
		c->values = q + (c->values - table.answer);
	}
	table.answer = q;
	table.answer_room = room;
	return 0;
}

/* Texts move the answer: what points into it is made anew. */
static int heap_add(const char *p, size_t n, char *value)
{
	size_t at = table.answer_len - table.heap_at;
	size_t slot = (size_t)(value - table.answer);
	uint32_t words[2] = { (uint32_t)at, (uint32_t)n };

	if (n > ANSWER_MAX - table.answer_len)
		return -1;
	if (n > table.answer_room - table.answer_len && more_room(n))
		return -1;
	memcpy(table.answer + table.answer_len, p, n);
	table.answer_len += n;
	memcpy(table.answer + slot, words, sizeof(words));
	return 0;
}

char *answer_slot(const struct formula_place *at, enum formula_kind kind)
{
	((uint8_t *)at->c->kinds)[at->i] = (uint8_t)kind;
	return (char *)at->c->values + (size_t)8 * at->i;
}

static void put_wide(const struct formula_place *at, enum formula_kind kind,
		     int64_t n)
{
	memcpy(answer_slot(at, kind), &n, sizeof(n));
}

int answer_error(const struct formula_place *at, const char *code,
		 const char *message)
{
	char text[MESSAGE_MAX + CODE_MAX + 2];
	int n = snprintf(text, sizeof(text), "%.*s %.*s", CODE_MAX, code,
			 MESSAGE_MAX, message);
	size_t len = n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1;
	size_t head = len;

	/* A character that was cut. */
	while (head && ((unsigned char)text[head - 1] & 0xc0) == 0x80)
		head--;
	if (head && (unsigned char)text[head - 1] >= 0xc0) {
		unsigned char c = (unsigned char)text[head - 1];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

		if (len - head + 1 < need)
			len = head - 1;
	}
	return heap_add(text, len, answer_slot(at, CELL_ERROR));
}

static int put_number(const struct formula_place *at, double n)
{
	if (isnan(n))
		return answer_error(at, "#NUM!", "the result is not a number");
	if (isinf(n))
		return answer_error(at, "#DIV/0!", "the result is infinite");
	n = n == 0 ? 0 : n; /* no sheet has a negative zero */
	memcpy(answer_slot(at, CELL_NUMBER), &n, sizeof(n));
	return 0;
}

static int put_integer(const struct formula_place *at, PyObject *v)
{
	int over;
	long long n = PyLong_AsLongLongAndOverflow(v, &over);

	if (over)
		return answer_error(at, "#NUM!",
				    "the result has more than 64 bits");
	put_wide(at, CELL_INTEGER, n);
	return 0;
}

static int put_text(const struct formula_place *at, PyObject *v)
{
	Py_ssize_t n;
	const char *p = PyUnicode_AsUTF8AndSize(v, &n);
	PyObject *b;
	int r;

	if (p)
		return heap_add(p, (size_t)n, answer_slot(at, CELL_TEXT));
	/* Halves of surrogate pairs. */
	PyErr_Clear();
	b = PyUnicode_AsEncodedString(v, "utf-8", "replace");
	if (!b) {
		PyErr_Clear();
		return -1;
	}
	r = heap_add(PyBytes_AS_STRING(b), (size_t)PyBytes_GET_SIZE(b),
		     answer_slot(at, CELL_TEXT));
	Py_DECREF(b);
	return r;
}

static int64_t days_of(PyObject *d)
{
	int64_t y = PyDateTime_GET_YEAR(d), m = PyDateTime_GET_MONTH(d);
	int64_t era, yoe, doy;

	y -= m <= 2;
	era = y / 400;
	yoe = y - era * 400;
	doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5;
	doy += PyDateTime_GET_DAY(d) - 1;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int put_time(const struct formula_place *at, PyObject *v)
{
	PyObject *utc = NULL;
	int64_t us;

	if (PyDateTime_DATE_GET_TZINFO(v) != Py_None) {
		utc = PyObject_CallMethod(v, "astimezone", "O",
					  PyDateTime_TimeZone_UTC);
		if (!utc)
			return answer_raised(at);
		v = utc;
	}
	us = ((PyDateTime_DATE_GET_HOUR(v) * 60LL +
	       PyDateTime_DATE_GET_MINUTE(v)) * 60 +
	      PyDateTime_DATE_GET_SECOND(v)) * 1000000 +
	     PyDateTime_DATE_GET_MICROSECOND(v);
	if (us)
		put_wide(at, CELL_TIME, days_of(v) * DAY_US + us);
	else
		put_wide(at, CELL_DATE, days_of(v));
	Py_XDECREF(utc);
	return 0;
}

static int put_delta(const struct formula_place *at, PyObject *v)
{
	return put_number(at, PyDateTime_DELTA_GET_DAYS(v) +
				      (PyDateTime_DELTA_GET_SECONDS(v) +
				       PyDateTime_DELTA_GET_MICROSECONDS(v) /
					       1e6) / 86400);
}

static int put_failure(const struct formula_place *at, PyObject *v)
{
	PyObject *code = PyObject_GetAttrString(v, "code_");
	PyObject *message = PyObject_GetAttrString(v, "message_");
	const char *c = code ? PyUnicode_AsUTF8(code) : NULL;
	const char *m = message ? PyUnicode_AsUTF8(message) : NULL;
	int r;

	PyErr_Clear();
	r = answer_error(at, c && *c == '#' ? c : "#VALUE!", m ? m : "");
	Py_XDECREF(code);
	Py_XDECREF(message);
	return r;
}

static int put_other(const struct formula_place *at, PyObject *v)
{
	if (PyCallable_Check(v))
		return answer_error(at, "#VALUE!",
				    "the result is a function: was it meant "
				    "to be called?");
	if (PyDict_Check(v))
		return answer_error(at, "#VALUE!",
				    "the result is a dictionary, and a cell "
				    "holds one value: take one of it by its "
				    "key");
	if (PyBytes_Check(v))
		return answer_error(at, "#VALUE!",
				    "the result is bytes, and a cell holds a "
				    "text: make one by .decode()");
	if (PyComplex_Check(v))
		return answer_error(at, "#VALUE!",
				    "the result is a complex number, and a "
				    "cell holds a real one");
	if (PyObject_HasAttrString(v, "__iter__"))
		return answer_error(at, "#VALUE!",
				    "the result is a list, and a cell holds "
				    "one value: take one of it by INDEX, or "
				    "make a text by TEXTJOIN");
	return answer_error(at, "#VALUE!",
			    "the result is an object, and a cell holds one "
			    "value");
}

static int put_object(const struct formula_place *at, PyObject *v)
{
	int64_t days;

	if (PyDateTime_Check(v))
		return put_time(at, v);
	if (PyDate_Check(v)) {
		days = days_of(v);
		put_wide(at, CELL_DATE, days);
		return 0;
	}
	if (PyDelta_Check(v))
		return put_delta(at, v);
	if (PyObject_TypeCheck(v, (PyTypeObject *)formula_hook("Failure")))
		return put_failure(at, v);
	return put_other(at, v);
}

int answer_value(const struct formula_place *at, PyObject *v)
{
	if (PyFloat_CheckExact(v))
		return put_number(at, PyFloat_AS_DOUBLE(v));
	if (PyBool_Check(v)) {
		put_wide(at, CELL_TRUTH, v == Py_True);
		return 0;
	}
	if (PyLong_CheckExact(v))
		return put_integer(at, v);
	if (PyUnicode_CheckExact(v))
		return put_text(at, v);
	if (v == Py_None) {
		put_wide(at, CELL_BLANK, 0);
		return 0;
	}
	return put_object(at, v);
}

/* ---- what was raised ---- */

static bool is_kind(PyObject *e, PyObject *kind)
{
	return PyErr_GivenExceptionMatches(e, kind);
}

/* True if the memory that the row wanted is back. */
static bool has_room(void)
{
	void *p = malloc(PROBE);

	free(p);
	return p;
}

static const char *code_of(PyObject *e, const char *text)
{
	if (is_kind(e, PyExc_ZeroDivisionError))
		return "#DIV/0!";
	if (is_kind(e, PyExc_OverflowError) ||
	    (is_kind(e, PyExc_ValueError) && !strncmp(text, "math ", 5)))
		return "#NUM!";
	if (is_kind(e, PyExc_NameError))
		return "#NAME?";
	if (is_kind(e, PyExc_LookupError))
		return "#REF!";
	return "#VALUE!";
}

static int put_raised(const struct formula_place *at, PyObject *e)
{
	PyObject *s;
	const char *text;
	int r;

	if (poll_row_over())
		return answer_error(at, "#TIME!",
				    "this row took longer than a row may");
	if (is_kind(e, PyExc_MemoryError))
		return has_room() ? answer_error(at, "#VALUE!",
						 "the row needs more memory "
						 "than a run may have")
				  : -1;
	if (is_kind(e, formula_hook("Failure")))
		return put_failure(at, e);
	s = PyObject_Str(e);
	text = s ? PyUnicode_AsUTF8(s) : NULL;
	if (!text || !*text)
		text = Py_TYPE(e)->tp_name;
	PyErr_Clear();
	r = answer_error(at, code_of(e, text), text);
	Py_XDECREF(s);
	return r;
}

int answer_raised(const struct formula_place *at)
{
	PyObject *e = PyErr_GetRaisedException(); /* NULL: its row is over */
	int r = put_raised(at, e);

	Py_XDECREF(e);
	PyErr_Clear();
	return r;
}

/* The batch as it came, and its cells as objects. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formula.h"
#include <datetime.h>

struct formula_table table;

static uint32_t word(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static int64_t wide(const char *p)
{
	int64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static double real(const char *p)
{
	double v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool bit(const void *p, uint32_t i)
{
	return ((const uint8_t *)p)[i / 8] >> (i % 8) & 1;
}

/* ---- cells ---- */

static const char *heap_of(const struct formula_column *c, uint32_t *ret_len)
{
	*ret_len = c->answer ? (uint32_t)(table.answer_len - table.heap_at)
			     : c->heap_len;
	return c->answer ? table.answer + table.heap_at : c->heap;
}

static PyObject *text_value(const struct formula_column *c, uint32_t at,
			    uint32_t len)
{
	uint32_t all;
	const char *heap = heap_of(c, &all);

	if (at > all || len > all - at)
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(heap + at, len, "replace");
}

/* A date is a datetime, too: one kind can be compared with another.  None
 * outside of the years 1 to 9999. */
static PyObject *moment_value(int64_t days, int64_t us)
{
	int64_t z = days + 719468, era, doe, yoe, doy, mp;
	int d, m, s = (int)(us / 1000000);

	if (days < -719162 || days > 2932896)
		Py_RETURN_NONE;
	era = z / 146097;
	doe = z - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	d = (int)(doy - (153 * mp + 2) / 5 + 1);
	m = (int)(mp < 10 ? mp + 3 : mp - 9);
	return PyDateTime_FromDateAndTime((int)(yoe + era * 400 + (m <= 2)), m,
					  d, s / 3600, s / 60 % 60, s % 60,
					  (int)(us % 1000000));
}

static PyObject *date_value(int64_t days)
{
	return moment_value(days, 0);
}

static PyObject *time_value(int64_t us)
{
	int64_t days = us / DAY_US, rest = us % DAY_US;

	return rest < 0 ? moment_value(days - 1, rest + DAY_US)
			: moment_value(days, rest);
}

/* What a formula gets for an error: it raises itself when it is used. */
static PyObject *error_value(const struct formula_column *c, const char *v)
{
	uint32_t all, at = word(v), len = word(v + 4);
	const char *heap = heap_of(c, &all), *blank;
	size_t n;

	if (at > all || len > all - at)
		Py_RETURN_NONE;
	blank = memchr(heap + at, ' ', len);
	n = blank ? (size_t)(blank - (heap + at)) : len;
	return PyObject_CallFunction(formula_hook("Failure"), "s#s#",
				     heap + at, (Py_ssize_t)n,
				     blank ? blank + 1 : "",
				     (Py_ssize_t)(blank ? len - n - 1 : 0));
}

static PyObject *cells_value(const struct formula_column *c, uint32_t i)
{
	const char *v = c->values + (size_t)8 * i;

	switch (c->kinds[i]) {
	case CELL_NUMBER:
		return PyFloat_FromDouble(real(v));
	case CELL_TRUTH:
		return PyBool_FromLong(wide(v) != 0);
	case CELL_TEXT:
		return text_value(c, word(v), word(v + 4));
	case CELL_INTEGER:
		return PyLong_FromLongLong(wide(v));
	case CELL_DATE:
		return date_value(wide(v));
	case CELL_TIME:
		return time_value(wide(v));
	case CELL_ERROR:
		return error_value(c, v);
	default:
		Py_RETURN_NONE;
	}
}

PyObject *table_cell(const struct formula_column *c, uint32_t i)
{
	uint32_t at;

	if (c->layout == LAYOUT_CELLS)
		return cells_value(c, i);
	if (c->kinds && !bit(c->kinds, i))
		Py_RETURN_NONE;
	switch (c->layout) {
	case LAYOUT_FLOAT64:
		return PyFloat_FromDouble(real(c->values + (size_t)8 * i));
	case LAYOUT_INT64:
		return PyLong_FromLongLong(wide(c->values + (size_t)8 * i));
	case LAYOUT_BOOL:
		return PyBool_FromLong(bit(c->values, i));
	case LAYOUT_TEXT:
		at = word(c->values + (size_t)4 * i);
		return text_value(c, at,
				  word(c->values + (size_t)4 * i + 4) - at);
	case LAYOUT_DATE32:
		return date_value((int32_t)word(c->values + (size_t)4 * i));
	case LAYOUT_TIME_US:
		return time_value(wide(c->values + (size_t)8 * i));
	default:
		Py_RETURN_NONE;
	}
}

/* ---- whole columns ---- */

struct whole {
	PyObject_HEAD
	uint32_t column;
	PyObject *cells; /* a tuple of them; NULL until all were asked for */
};

static PyTypeObject *whole_type;

static PyObject *whole_item(PyObject *self, Py_ssize_t i)
{
	struct whole *w = (struct whole *)self;

	if (i < 0 || i >= (Py_ssize_t)table.head.rows) {
		PyErr_SetString(PyExc_IndexError,
				"the column has no such row");
		return NULL;
	}
	if (w->cells)
		return Py_NewRef(PyTuple_GET_ITEM(w->cells, i));
	return table_cell(&table.columns[w->column], (uint32_t)i);
}

static Py_ssize_t whole_length(PyObject *self)
{
	return table.head.rows;
}

/* All cells as a tuple; borrowed. */
static PyObject *whole_cells(PyObject *self)
{
	struct whole *w = (struct whole *)self;
	PyObject *list;

	if (w->cells)
		return w->cells;
	list = PyTuple_New(table.head.rows);
	for (uint32_t i = 0; list && i < table.head.rows; i++) {
		PyObject *v = table_cell(&table.columns[w->column], i);

		if (!v)
			Py_CLEAR(list);
		else
			PyTuple_SET_ITEM(list, i, v);
	}
	return w->cells = list;
}

static PyObject *whole_subscript(PyObject *self, PyObject *key)
{
	PyObject *all;
	Py_ssize_t i;

	if (PyIndex_Check(key)) {
		i = PyNumber_AsSsize_t(key, PyExc_IndexError);
		if (i == -1 && PyErr_Occurred())
			return NULL;
		return whole_item(self, i < 0 ? i + (Py_ssize_t)table.head.rows
					      : i);
	}
	all = whole_cells(self);
	return all ? PyObject_GetItem(all, key) : NULL;
}

static PyObject *whole_iter(PyObject *self)
{
	PyObject *all = whole_cells(self);

	return all ? PyObject_GetIter(all) : NULL;
}

static int whole_contains(PyObject *self, PyObject *v)
{
	PyObject *all = whole_cells(self);

	return all ? PySequence_Contains(all, v) : -1;
}

static PyType_Slot whole_slots[] = {
	{ Py_sq_length, whole_length },
	{ Py_mp_length, whole_length },
	{ Py_sq_item, whole_item },
	{ Py_mp_subscript, whole_subscript },
	{ Py_tp_iter, whole_iter },
	{ Py_sq_contains, whole_contains },
	{ 0, NULL },
};

static PyType_Spec whole_spec = {
	.name = "Column",
	.basicsize = sizeof(struct whole),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_SEQUENCE,
	.slots = whole_slots,
};

int table_types(void)
{
	PyDateTime_IMPORT;
	if (!PyDateTimeAPI)
		return -1;
	whole_type = (PyTypeObject *)PyType_FromSpec(&whole_spec);
	return whole_type &&
			       !PyDict_SetItemString(formula_scope, "Column",
						     (PyObject *)whole_type)
		       ? 0
		       : -1;
}

PyObject *table_whole(uint32_t column)
{
	struct whole *w;

	if (!table.wholes[column]) {
		w = PyObject_New(struct whole, whole_type);
		if (!w)
			return NULL;
		w->column = column;
		w->cells = NULL;
		table.wholes[column] = (PyObject *)w;
	}
	return Py_NewRef(table.wholes[column]);
}

/* CELLS(v): the cells of a whole column, or None. */
static PyObject *py_cells(PyObject *self, PyObject *v)
{
	if (!Py_IS_TYPE(v, whole_type))
		Py_RETURN_NONE;
	return Py_XNewRef(whole_cells(v));
}

/* ASIDE(true): what follows is for all rows; gives what was. */
static PyObject *py_aside(PyObject *self, PyObject *v)
{
	bool was = poll_aside;

	poll_aside = v == Py_True;
	return PyBool_FromLong(was);
}

/* NOW_US(): since 1970, the same for all of the batch; None: the policy has no
 * clock, of which the host hears that it was asked for. */
static PyObject *py_now(PyObject *self, PyObject *none)
{
	struct timespec t;

	answer_note(ANSWER_TIME);
	if (table.head.now_us == NO_TIME) {
		clock_gettime(CLOCK_REALTIME, &t);
		Py_RETURN_NONE;
	}
	return PyLong_FromLongLong(table.head.now_us);
}

PyMethodDef table_methods[] = {
	{ "CELLS", py_cells, METH_O, NULL },
	{ "ASIDE", py_aside, METH_O, NULL },
	{ "NOW_US", py_now, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

/* ---- taking a batch ---- */

/* The host builds batches, but a wrong one must not become a wild read. */
static bool within(const struct guest_span *all, uint32_t at, uint64_t len)
{
	return at <= all->len && len <= all->len - at;
}

static bool take_column(const struct guest_span *all, const char *p,
			struct formula_column *c)
{
	static const uint8_t bits[LAYOUTS] = { 64, 64, 64, 1, 32, 32, 64 };
	struct column_words w;
	uint64_t n = table.head.rows, values;

	memcpy(&w, p, sizeof(w));
	if (w.layout >= LAYOUTS)
		return false;
	values = (n + (w.layout == LAYOUT_TEXT)) * bits[w.layout];
	if (!within(all, w.name, w.name_len) ||
	    !within(all, w.values, (values + 7) / 8) ||
	    !within(all, w.heap, w.heap_len) ||
	    !within(all, w.kinds,
		    w.layout == LAYOUT_CELLS ? n
		    : w.kinds		     ? (n + 7) / 8
					     : 0))
		return false;
	*c = (struct formula_column){
		.name = table.base + w.name,
		.name_len = w.name_len,
		.layout = (enum formula_layout)w.layout,
		.kinds = w.kinds ? (const uint8_t *)table.base + w.kinds : NULL,
		.values = table.base + w.values,
		.heap = table.base + w.heap,
		.heap_len = w.heap_len};
	return true;
}

static bool make_room(void)
{
	size_t n = (size_t)table.head.columns + table.head.formulas + 1;

	table.columns = calloc(n, sizeof(*table.columns));
	table.wholes = calloc(n, sizeof(*table.wholes));
	table.formulas =
		calloc(table.head.formulas + 1, sizeof(*table.formulas));
	table.order = calloc(table.head.formulas + 1, sizeof(*table.order));
	return table.columns && table.wholes && table.formulas && table.order;
}

bool table_take(const char *base, const struct guest_span *all)
{
	const char *p = base + all->off + sizeof(table.head);
	uint64_t need;

	table.base = base + all->off;
	if (all->len < sizeof(table.head))
		return false;
	memcpy(&table.head, table.base, sizeof(table.head));
	need = (uint64_t)table.head.columns * sizeof(struct column_words) +
	       (uint64_t)table.head.formulas * sizeof(struct formula_words);
	if (table.head.magic != BATCH_MAGIC ||
	    need > all->len - sizeof(table.head) || !make_room())
		return false;
	for (uint32_t i = 0; i < table.head.columns; i++) {
		if (!take_column(all, p, &table.columns[i]))
			return false;
		p += sizeof(struct column_words);
	}
	for (uint32_t i = 0; i < table.head.formulas; i++) {
		struct formula_words *w = &table.formulas[i].words;

		memcpy(w, p, sizeof(*w));
		p += sizeof(*w);
		if (!within(all, w->name, w->name_len) ||
		    !within(all, w->text, w->text_len))
			return false;
	}
	return true;
}

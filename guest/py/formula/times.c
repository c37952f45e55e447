/* A text times a number.  To the language it is that text again and again, to a
 * sheet no number: "N/A" in a column of prices must not become "N/AN/A".  So
 * the operator refuses, and where a formula's author wrote the text
 * ('-' * qty), and in REPT, what repeats is called by name. */
#include "formula.h"

static ssizeargfunc repeat; /* the language's */

static PyObject *refuse(PyObject *text, Py_ssize_t n)
{
	(void)text;
	(void)n;
	return PyObject_CallFunction(
		formula_hook("bad_value"), "s",
		"a text times a number is no number: VALUE reads a number from "
		"a text, REPT repeats a text");
}

void times_refuse(void)
{
	PySequenceMethods *m = PyUnicode_Type.tp_as_sequence;

	repeat = m->sq_repeat;
	m->sq_repeat = refuse;
}

static PyObject *repeated(PyObject *text, PyObject *times)
{
	Py_ssize_t n = PyNumber_AsSsize_t(times, PyExc_OverflowError);

	if (n == -1 && PyErr_Occurred())
		return NULL;
	return repeat(text, n);
}

/* REPEATED(a, b): a * b as the language has it. */
static PyObject *py_repeated(PyObject *self, PyObject *const *args,
			     Py_ssize_t n)
{
	(void)self;
	if (n != 2)
		return PyErr_Format(PyExc_TypeError, "two are multiplied");
	if (PyUnicode_Check(args[0]) && PyIndex_Check(args[1]))
		return repeated(args[0], args[1]);
	if (PyUnicode_Check(args[1]) && PyIndex_Check(args[0]))
		return repeated(args[1], args[0]);
	return PyNumber_Multiply(args[0], args[1]);
}

PyMethodDef times_methods[] = {
	{ "REPEATED", (PyCFunction)(void (*)(void))py_repeated, METH_FASTCALL,
	  NULL },
	{ NULL, NULL, 0, NULL },
};

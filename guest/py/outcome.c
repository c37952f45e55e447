/* How a run ended, as the host reads it. */
#include <string.h>
#include "guest.h"

static void set_text(uint32_t *ret, uint32_t *ret_len, PyObject *text)
{
	Py_ssize_t n;
	const char *p = text ? PyUnicode_AsUTF8AndSize(text, &n) : NULL;

	if (!p) {
		PyErr_Clear();
		return;
	}
	/* The text stays: memory is put back after the run. */
	Py_INCREF(text);
	*ret = (uint32_t)(uintptr_t)p;
	*ret_len = (uint32_t)n;
}

static PyObject *hook(const char *name)
{
	return PyDict_GetItemString(guest.hooks, name); /* borrowed */
}

void outcome_value(PyObject *value)
{
	struct guest_result *r = &guest.result;
	PyObject *text;
	const char *p;
	size_t n;

	if (value_print(value, &p, &n)) {
		r->value = (uint32_t)(uintptr_t)p;
		r->value_len = (uint32_t)n;
		return;
	}
	text = PyObject_CallOneArg(hook("carried"), value);
	if (text && PyUnicode_AsUTF8(text))
		set_text(&r->value, &r->value_len, text);
	else
		outcome_error(false);
}

static enum guest_kind classify(PyObject *e, bool syntax)
{
	/* The parser's own limit is a MemoryError, too; no room for a frame is
	 * a SystemError. */
	if (guest.oom && (PyErr_GivenExceptionMatches(e, PyExc_MemoryError) ||
			  PyErr_GivenExceptionMatches(e, PyExc_SystemError)))
		return GUEST_NO_MEMORY;
	if (PyErr_GivenExceptionMatches(e, PyExc_RecursionError))
		return GUEST_STACK;
	if (PyErr_GivenExceptionMatches(e, PyExc_SystemExit))
		return GUEST_EXIT;
	return syntax ? GUEST_SYNTAX : GUEST_THROWN;
}

static uint32_t number(PyObject *tuple, Py_ssize_t i)
{
	unsigned long n = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(tuple, i));

	if (PyErr_Occurred())
		PyErr_Clear();
	return (uint32_t)n;
}

/* A SystemError of the interpreter's own, as what it is. */
static PyObject *no_room(PyObject *e, uint32_t *kind)
{
	PyObject *other = PyObject_CallOneArg(hook("no_room"), e);

	if (!other) {
		PyErr_Clear();
		return e;
	}
	*kind = classify(other, false);
	return other;
}

void outcome_error(bool syntax)
{
	PyObject *e = PyErr_GetRaisedException();
	struct guest_result *r = &guest.result;
	PyObject *told;

	r->kind = classify(e, syntax);
	if (r->kind == GUEST_NO_MEMORY &&
	    PyErr_GivenExceptionMatches(e, PyExc_SystemError))
		e = no_room(e, &r->kind);
	r->exit_code = 1;
	if (r->kind == GUEST_EXIT) {
		told = PyObject_CallOneArg(hook("exit_code"), e);
		r->exit_code = told ? (int32_t)PyLong_AsLong(told) : 1;
		PyErr_Clear();
		return;
	}
	/* (name, message, stack, line, column) */
	told = PyObject_CallOneArg(hook("told"), e);
	if (!told || !PyTuple_Check(told) || PyTuple_GET_SIZE(told) != 5) {
		PyErr_Clear();
		set_text(&r->name, &r->name_len,
			 PyUnicode_FromString(Py_TYPE(e)->tp_name));
		set_text(&r->message, &r->message_len, PyObject_Str(e));
		return;
	}
	set_text(&r->name, &r->name_len, PyTuple_GET_ITEM(told, 0));
	set_text(&r->message, &r->message_len, PyTuple_GET_ITEM(told, 1));
	set_text(&r->stack, &r->stack_len, PyTuple_GET_ITEM(told, 2));
	r->line = number(told, 3);
	r->column = number(told, 4);
}

/* Calls of the caller's tools: the host's side of tools.py. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

#define IMPORT(name) __attribute__((import_module("redoma"), import_name(name)))

IMPORT("call") int32_t redoma_call(const void *p, uint32_t n);
IMPORT("wait") int32_t redoma_wait(int64_t timeout_us, uint32_t *ret_len);
IMPORT("answer") int32_t redoma_answer(int32_t id, void *dst);

int32_t tools_send(const char *text, size_t len)
{
	return redoma_call(text, (uint32_t)len);
}

/* What value.c cannot print. */
static PyObject *carried_text(PyObject *tool, PyObject *args)
{
	PyObject *json = PyObject_CallOneArg(
		PyDict_GetItemString(guest.hooks, "carried_args"), args);
	PyObject *all = json ? PyUnicode_FromFormat("%U%c%U", tool, 0, json)
			     : NULL;
	PyObject *ret = all ? PyUnicode_AsUTF8String(all) : NULL;

	Py_XDECREF(json);
	Py_XDECREF(all);
	return ret;
}

/* TOOL_TEXT(name, args): what TOOL_SEND takes, NAME 0 JSON. */
static PyObject *py_text(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	PyObject *ret;
	const char *p;
	size_t len;

	if (!PyUnicode_Check(args[0])) {
		PyErr_SetString(PyExc_TypeError, "the name of a tool is a str");
		return NULL;
	}
	if (PyUnicode_FindChar(args[0], 0, 0, PY_SSIZE_T_MAX, 1) >= 0) {
		PyErr_SetString(PyExc_ValueError, "the name of a tool holds a "
						  "NUL character");
		return NULL;
	}
	if (!value_print_call(args[0], args[1], &p, &len))
		return carried_text(args[0], args[1]);
	ret = PyBytes_FromStringAndSize(p, (Py_ssize_t)len);
	free((void *)p);
	return ret;
}

/* TOOL_SEND(text): the number of the call, or less than 0. */
static PyObject *py_send(PyObject *self, PyObject *text)
{
	return PyLong_FromLong(tools_send(PyBytes_AS_STRING(text),
					  (size_t)PyBytes_GET_SIZE(text)));
}

/* One that was answered: whoever awaits it has it, and *ret is NULL, or it is
 * (number, answer). */
static int take(int32_t id, uint32_t len, PyObject **ret)
{
	PyObject *answer = PyBytes_FromStringAndSize(NULL, len);
	int r;

	*ret = NULL;
	if (!answer)
		return -1;
	if (redoma_answer(id, PyBytes_AS_STRING(answer)))
		__builtin_trap();
	r = quick_settle(id, PyBytes_AS_STRING(answer), len);
	if (!r)
		*ret = Py_BuildValue("(lO)", (long)id, answer);
	Py_DECREF(answer);
	return r < 0 || (!r && !*ret) ? -1 : 0;
}

/* TOOL_HEAR(microseconds): the next answer that is for Python, as (number,
 * answer); None if none came in that time, or none but such as quick.c takes.
 * Less than 0 waits for ever. */
static PyObject *py_hear(PyObject *self, PyObject *us)
{
	long long t = PyLong_AsLongLong(us);
	PyObject *got = NULL;

	if (t == -1 && PyErr_Occurred())
		return NULL;
	while (!got) {
		uint32_t len = 0;
		int32_t id = redoma_wait(t, &len);

		if (id < 0) {
			/* Does not come back if the run is to end. */
			PyErr_CheckSignals();
			PyErr_SetString(PyExc_OSError,
					"the host does not answer");
			return NULL;
		}
		if (!id)
			Py_RETURN_NONE;
		if (take(id, len, &got))
			return NULL;
		t = 0;
	}
	return got;
}

PyMethodDef tools_methods[] = {
	{ "TOOL_TEXT", (PyCFunction)(void (*)(void))py_text, METH_FASTCALL,
	  NULL },
	{ "TOOL_SEND", py_send, METH_O, NULL },
	{ "TOOL_HEAR", py_hear, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

int tools_start(void)
{
	PyObject *names = texts(guest.tools, guest.toolc);
	PyObject *r = !names ? NULL : PyObject_CallFunctionObjArgs(
		PyDict_GetItemString(guest.hooks, "begin_tools"), names,
		guest.scope, NULL);

	Py_XDECREF(names);
	Py_XDECREF(r);
	return r ? 0 : -1;
}

int tools_end(void)
{
	PyObject *r = PyObject_CallNoArgs(
		PyDict_GetItemString(guest.hooks, "end_tools"));

	Py_XDECREF(r);
	return r ? 0 : -1;
}

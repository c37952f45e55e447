/* Calls of the caller's tools: the host's side of tools.py. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

#define IMPORT(name) __attribute__((import_module("redoma"), import_name(name)))

IMPORT("call") int32_t redoma_call(const void *p, uint32_t n);
IMPORT("wait") int32_t redoma_wait(int64_t timeout_us, uint32_t *ret_len);
IMPORT("answer") int32_t redoma_answer(int32_t id, void *dst);

/* TOOL_TEXT(name, args): what TOOL_SEND takes, NAME 0 JSON. */
static PyObject *py_text(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	PyObject *text = NULL, *ret;
	Py_ssize_t text_len, name_len;
	const char *name = PyUnicode_AsUTF8AndSize(args[0], &name_len), *p;
	size_t len;

	if (!name)
		return NULL;
	if (memchr(name, 0, (size_t)name_len)) {
		PyErr_SetString(PyExc_ValueError, "the name of a tool holds a "
						  "NUL character");
		return NULL;
	}
	if (!value_print(args[1], &p, &len)) {
		text = PyObject_CallOneArg(
			PyDict_GetItemString(guest.hooks, "carried_args"),
			args[1]);
		p = text ? PyUnicode_AsUTF8AndSize(text, &text_len) : NULL;
		if (!p) {
			Py_XDECREF(text);
			return NULL;
		}
		len = (size_t)text_len;
	}
	name_len++;
	ret = PyBytes_FromStringAndSize(NULL, name_len + (Py_ssize_t)len);
	if (ret) {
		memcpy(PyBytes_AS_STRING(ret), name, (size_t)name_len);
		memcpy(PyBytes_AS_STRING(ret) + name_len, p, len);
	}
	if (text)
		Py_DECREF(text);
	else
		free((void *)p);
	return ret;
}

/* TOOL_SEND(text): the number of the call, or less than 0 (wasi/tools.h). */
static PyObject *py_send(PyObject *self, PyObject *text)
{
	return PyLong_FromLong(redoma_call(PyBytes_AS_STRING(text),
					   (uint32_t)PyBytes_GET_SIZE(text)));
}

/* TOOL_HEAR(microseconds): (number, answer), or None if none came in that
 * time; less than 0 waits for ever. */
static PyObject *py_hear(PyObject *self, PyObject *us)
{
	long long t = PyLong_AsLongLong(us);
	PyObject *answer;
	uint32_t len = 0;
	int32_t id;

	if (t == -1 && PyErr_Occurred())
		return NULL;
	id = redoma_wait(t, &len);
	if (id < 0) {
		/* Does not come back if the run is to end. */
		PyErr_CheckSignals();
		PyErr_SetString(PyExc_OSError, "the host does not answer");
		return NULL;
	}
	if (!id)
		Py_RETURN_NONE;
	answer = PyBytes_FromStringAndSize(NULL, len);
	if (!answer)
		return NULL;
	if (redoma_answer(id, PyBytes_AS_STRING(answer)))
		__builtin_trap();
	return Py_BuildValue("(lN)", (long)id, answer);
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

/* A turn of asyncio: to call something soon, which each future and each task
 * does.  What is unusual (debug mode, a loop that is closed, wrong arguments)
 * asyncio does itself. */
#include <string.h>
#include "guest.h"
#include "slots.h"

/* All of it is set before the snapshot, and never again. */
static struct {
	PyTypeObject *handle_type;
	struct {
		Py_ssize_t callback, args, cancelled, loop, traceback, repr,
			context;
	} handle;
	PyObject *call_soon; /* of Python */
	PyObject *s_append, *s_closed, *s_debug, *s_ready;
} turn;

static bool is_false(PyObject *o, PyObject *name)
{
	PyObject *v = PyObject_GetAttr(o, name);

	Py_XDECREF(v);
	return v == Py_False;
}

/* The context that is given, or a copy of this one; NULL: for Python. */
static PyObject *context_of(PyObject *const *args, Py_ssize_t n,
			    PyObject *names)
{
	if (names && PyTuple_GET_SIZE(names)) {
		if (PyTuple_GET_SIZE(names) > 1 ||
		    !PyUnicode_EqualToUTF8(PyTuple_GET_ITEM(names, 0),
					   "context"))
			return NULL;
		if (args[n] != Py_None)
			return Py_NewRef(args[n]);
	}
	return PyContext_CopyCurrent();
}

static PyObject *new_handle(PyObject *loop, PyObject *const *args, Py_ssize_t n,
			    PyObject *context)
{
	PyObject *rest = PyTuple_New(n - 1);
	PyObject *h = rest ? turn.handle_type->tp_alloc(turn.handle_type, 0)
			   : NULL;

	if (!h) {
		Py_XDECREF(rest);
		return NULL;
	}
	for (Py_ssize_t i = 1; i < n; i++)
		PyTuple_SET_ITEM(rest, i - 1, Py_NewRef(args[i]));
	*slot(h, turn.handle.args) = rest;
	slot_put(h, turn.handle.callback, args[0]);
	slot_put(h, turn.handle.cancelled, Py_False);
	slot_put(h, turn.handle.loop, loop);
	slot_put(h, turn.handle.traceback, Py_None);
	slot_put(h, turn.handle.repr, Py_None);
	slot_put(h, turn.handle.context, context);
	return h;
}

static PyObject *in_python(PyObject *self, PyObject *const *args, Py_ssize_t n,
			   PyObject *names)
{
	Py_ssize_t all = n + (names ? PyTuple_GET_SIZE(names) : 0);
	PyObject **with = PyMem_Malloc((size_t)(all + 1) * sizeof(*with)), *r;

	if (!with)
		return PyErr_NoMemory();
	with[0] = self;
	memcpy(with + 1, args, (size_t)all * sizeof(*with));
	r = PyObject_Vectorcall(turn.call_soon, with, (size_t)n + 1, names);
	PyMem_Free(with);
	return r;
}

/* call_soon(callback, *args, context=None) */
static PyObject *loop_call_soon(PyObject *self, PyObject *const *args,
				Py_ssize_t n, PyObject *names)
{
	PyObject *context = NULL, *h = NULL, *ready, *r = NULL;

	if (n && is_false(self, turn.s_closed) &&
	    is_false(self, turn.s_debug))
		context = context_of(args, n, names);
	if (!context) {
		PyErr_Clear();
		return in_python(self, args, n, names);
	}
	ready = PyObject_GetAttr(self, turn.s_ready);
	h = ready ? new_handle(self, args, n, context) : NULL;
	if (h)
		r = PyObject_CallMethodOneArg(ready, turn.s_append, h);
	if (!r)
		Py_CLEAR(h);
	Py_XDECREF(r);
	Py_XDECREF(ready);
	Py_DECREF(context);
	return h;
}

static PyObject *loop_get_debug(PyObject *self, PyObject *none)
{
	return PyObject_GetAttr(self, turn.s_debug);
}

static PyMethodDef loop_methods[] = {
	{ "call_soon", (PyCFunction)(void (*)(void))loop_call_soon,
	  METH_FASTCALL | METH_KEYWORDS, NULL },
	{ "get_debug", loop_get_debug, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static int stand_in(PyTypeObject *loop)
{
	for (PyMethodDef *m = loop_methods; m->ml_name; m++)
		if (PyObject_SetAttrString((PyObject *)loop, m->ml_name,
					   PyDescr_NewMethod(loop, m)))
			return -1;
	return 0;
}

int turn_start(void)
{
	static const char *const of_handle[] = {
		"_callback", "_args", "_cancelled", "_loop",
		"_source_traceback", "_repr", "_context", NULL };
	PyObject *asyncio = PyImport_ImportModule("asyncio"), *loop;

	turn.s_append = PyUnicode_InternFromString("append");
	turn.s_closed = PyUnicode_InternFromString("_closed");
	turn.s_debug = PyUnicode_InternFromString("_debug");
	turn.s_ready = PyUnicode_InternFromString("_ready");
	if (!slots_keep(&loop, asyncio, "EventLoop") ||
	    !slots_keep(&turn.call_soon, loop, "call_soon") ||
	    !slots_keep((PyObject **)&turn.handle_type, asyncio, "Handle") ||
	    !slots_find(turn.handle_type, of_handle, &turn.handle.callback))
		return -1;
	return stand_in((PyTypeObject *)loop);
}

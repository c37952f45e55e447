/* The usual way of a call of a tool, in C.
 *
 * What tools.py says holds: its classes stay as they are, and a function here
 * stands in a slot of one of them.  It does what is ordinary, and leaves the
 * rest to the Python that it stands in front of: a call that waits where it
 * stands, arguments that value.c cannot print, an answer that is a failure, has
 * a tag or is awaited in a loop that does not run. */
#define Py_BUILD_CORE 1
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_pystate.h"
#include "slots.h"

#define ASYNC (CO_COROUTINE | CO_ASYNC_GENERATOR)

/* All of it is set before the snapshot, and never again. */
static struct {
	PyTypeObject *tool_type, *call_type, *answer_type;
	getattrofunc tools_getattr;
	struct {
		Py_ssize_t ahead;
	} tools;
	struct {
		Py_ssize_t name, ahead;
	} tool;
	struct {
		Py_ssize_t tool;
	} answer;
	struct {
		Py_ssize_t tool, text, over, error, value, answer;
	} call;
	PyObject *tool_called; /* of Python */
	PyObject *running_loop, *get_loop, *done, *set_result, *scan;
	PyObject *sent, *unsent; /* those of tools.py */
	PyObject *none, *s_loop, *s_append;
} quick;

/* ---- a call ---- */

/* The loop that runs; NULL without an exception: none does. */
static PyObject *running_loop(void)
{
	PyObject *loop = PyObject_CallNoArgs(quick.running_loop);

	if (loop == Py_None)
		Py_CLEAR(loop);
	return loop;
}

static bool starts(PyObject *text, Py_UCS4 c)
{
	return PyUnicode_GET_LENGTH(text) && PyUnicode_READ_CHAR(text, 0) == c;
}

static bool is_within(PyCodeObject *code)
{
	return starts(code->co_filename, '<') ||
	       PyUnicode_EqualToUTF8(code->co_name, "<genexpr>") ||
	       PyUnicode_EqualToUTF8(code->co_name, "<lambda>");
}

/* As in_async of tools.py. */
static bool in_async(void)
{
	_PyInterpreterFrame *f = _PyThreadState_GET()->current_frame;

	f = _PyFrame_GetFirstComplete(f);
	while (f && is_within(_PyFrame_GetCode(f)))
		f = _PyFrame_GetFirstComplete(f->previous);
	return f && (_PyFrame_GetCode(f)->co_flags & ASYNC);
}

/* The arguments by name; false: what they are is for Python to say. */
static bool named_args(PyObject *args, PyObject *named, PyObject **ret)
{
	PyObject *only;

	*ret = named;
	if (!PyTuple_GET_SIZE(args))
		return true;
	only = PyTuple_GET_ITEM(args, 0);
	if (PyTuple_GET_SIZE(args) > 1 || (named && PyDict_GET_SIZE(named)))
		return false;
	*ret = only == Py_None ? NULL : only;
	return !*ret || PyDict_CheckExact(only);
}

static PyObject *new_answer(PyObject *loop, PyObject *tool)
{
	PyTypeObject *t = quick.answer_type;
	PyObject *kw = PyDict_New(), *answer = NULL;

	if (kw && !PyDict_SetItem(kw, quick.s_loop, loop))
		answer = t->tp_new(t, quick.none, NULL);
	if (answer && t->tp_init(answer, quick.none, kw))
		Py_CLEAR(answer);
	if (answer)
		slot_put(answer, quick.answer.tool, tool);
	Py_XDECREF(kw);
	return answer;
}

static PyObject *new_call(PyObject *tool, PyObject *answer)
{
	PyObject *call = quick.call_type->tp_alloc(quick.call_type, 0);

	if (!call)
		return NULL;
	slot_put(call, quick.call.tool, tool);
	slot_put(call, quick.call.text, Py_None);
	slot_put(call, quick.call.over, Py_False);
	slot_put(call, quick.call.answer, answer);
	return call;
}

/* It waits for its turn. */
static int queue(PyObject *call, const char *text, size_t len)
{
	PyObject *bytes = PyBytes_FromStringAndSize(text, (Py_ssize_t)len), *r;

	if (!bytes)
		return -1;
	Py_SETREF(*slot(call, quick.call.text), bytes);
	r = PyObject_CallMethodOneArg(quick.unsent, quick.s_append, call);
	Py_XDECREF(r);
	if (r) {
		r = PyObject_CallNoArgs(
			PyDict_GetItemString(guest.hooks, "send_more"));
		Py_XDECREF(r);
	}
	return r ? 0 : -1;
}

static int send(PyObject *call, const char *text, size_t len)
{
	int32_t n = PyObject_Size(quick.unsent) ? 0 : tools_send(text, len);
	PyObject *number;
	int r;

	if (n <= 0)
		return queue(call, text, len);
	number = PyLong_FromLong(n);
	r = number ? PyDict_SetItem(quick.sent, number, call) : -1;
	Py_XDECREF(number);
	return r;
}

static PyObject *called_async(PyObject *tool, PyObject *loop, PyObject *named,
			      bool *ret_done)
{
	PyObject *answer = NULL, *call = NULL;
	const char *text;
	size_t len;

	*ret_done = value_print_call(tool, named, &text, &len);
	if (!*ret_done)
		return NULL;
	/* The loop may be the program's, which may give the tool another
	 * name meanwhile. */
	Py_INCREF(tool);
	answer = new_answer(loop, tool);
	call = answer ? new_call(tool, answer) : NULL;
	if (!call || send(call, text, len))
		Py_CLEAR(answer);
	Py_DECREF(tool);
	Py_XDECREF(call);
	free((void *)text);
	return answer;
}

static PyObject *tool_call(PyObject *self, PyObject *args, PyObject *named)
{
	PyObject *loop = running_loop(), *given, *answer, *all;
	PyObject *name = *slot(self, quick.tool.name);
	bool done;

	if (!loop && PyErr_Occurred())
		return NULL;
	if (loop && name && named_args(args, named, &given) &&
	    (*slot(self, quick.tool.ahead) == Py_True || in_async())) {
		answer = called_async(name, loop, given, &done);
		if (done) {
			Py_DECREF(loop);
			return answer;
		}
	}
	Py_XDECREF(loop);
	all = PyTuple_New(PyTuple_GET_SIZE(args) + 1);
	if (!all)
		return NULL;
	PyTuple_SET_ITEM(all, 0, Py_NewRef(self));
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
		PyTuple_SET_ITEM(all, i + 1,
				 Py_NewRef(PyTuple_GET_ITEM(args, i)));
	answer = PyObject_Call(quick.tool_called, all, named);
	Py_DECREF(all);
	return answer;
}

/* tools.NAME */
static PyObject *tools_getattr(PyObject *self, PyObject *name)
{
	PyObject *tool, *ahead = *slot(self, quick.tools.ahead);

	/* "aio" and "ahead" are no tools. */
	if (!ahead || starts(name, '_') || starts(name, 'a'))
		return quick.tools_getattr(self, name);
	tool = quick.tool_type->tp_alloc(quick.tool_type, 0);
	if (!tool)
		return NULL;
	slot_put(tool, quick.tool.name, name);
	slot_put(tool, quick.tool.ahead, ahead);
	return tool;
}

/* Names that a future has, without a call of what says which it has not. */
static PyObject *answer_getattr(PyObject *self, PyObject *name)
{
	PyObject *v = PyObject_GenericGetAttr(self, name);

	if (v || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return v;
	PyErr_Clear();
	return PyObject_CallFunction(
		PyDict_GetItemString(quick.answer_type->tp_dict, "__getattr__"),
		"OO", self, name);
}

/* ---- an answer ---- */

/* The value of plain JSON; NULL: it is for revived of carry.py. */
static PyObject *plain_value(const char *p, size_t n)
{
	PyObject *args[2], *text, *r, *v = NULL;

	if (n == 4 && !memcmp(p, "null", 4))
		return Py_NewRef(Py_None);
	/* A tag may be spelt with escapes. */
	if (!n || (unsigned char)*p <= ' ' || memmem(p, n, "$redoma", 7) ||
	    memmem(p, n, "\\u00", 4))
		return NULL;
	text = PyUnicode_DecodeUTF8(p, (Py_ssize_t)n, NULL);
	args[0] = text;
	args[1] = PyLong_FromLong(0); /* immortal */
	r = text ? PyObject_Vectorcall(quick.scan, args, 2, NULL) : NULL;
	/* All of the text, or it is not that value. */
	if (r && PyLong_AsLong(PyTuple_GET_ITEM(r, 1)) ==
			 PyUnicode_GET_LENGTH(text))
		v = Py_NewRef(PyTuple_GET_ITEM(r, 0));
	Py_XDECREF(r);
	Py_XDECREF(text);
	return v;
}

/* That it is awaited in the loop that runs, and whether it was given up. */
static bool is_awaited(PyObject *answer, bool *ret_done)
{
	PyObject *loop, *its, *r = NULL;

	if (!answer || !Py_IS_TYPE(answer, quick.answer_type))
		return false;
	loop = running_loop();
	its = loop ? PyObject_CallOneArg(quick.get_loop, answer) : NULL;
	if (its == loop && its)
		r = PyObject_CallOneArg(quick.done, answer);
	*ret_done = r == Py_True;
	Py_XDECREF(loop);
	Py_XDECREF(its);
	Py_XDECREF(r);
	return r != NULL;
}

static int settle(PyObject *call, PyObject *value, bool done)
{
	PyObject *answer = Py_NewRef(*slot(call, quick.call.answer));
	PyObject *args[2] = { answer, value }, *r = NULL;

	slot_put(call, quick.call.error, Py_None);
	slot_put(call, quick.call.value, value);
	Py_SETREF(*slot(call, quick.call.over), Py_NewRef(Py_True));
	if (!done)
		r = PyObject_Vectorcall(quick.set_result, args, 2, NULL);
	Py_XDECREF(r);
	Py_DECREF(answer);
	return done || r ? 0 : -1;
}

int quick_settle(int32_t n, const char *p, size_t len)
{
	PyObject *number = PyLong_FromLong(n), *value = NULL;
	PyObject *call = number ? PyDict_GetItemWithError(quick.sent, number)
				: NULL;
	int r = 0;
	bool done;

	if (call && len && !*p &&
	    is_awaited(*slot(call, quick.call.answer), &done))
		value = plain_value(p + 1, len - 1);
	if (value) {
		Py_INCREF(call);
		r = PyDict_DelItem(quick.sent, number) ||
				    settle(call, value, done)
			    ? -1
			    : 1;
		Py_DECREF(call);
		Py_DECREF(value);
	} else if (PyErr_Occurred()) {
		if (PyErr_ExceptionMatches(PyExc_MemoryError))
			r = -1;
		else
			PyErr_Clear();
	}
	Py_XDECREF(number);
	return r;
}

/* ---- before the snapshot ---- */

static PyTypeObject *type_of_ours(const char *name)
{
	return (PyTypeObject *)PyDict_GetItemString(guest.hooks, name);
}

static bool find_slots(const PyTypeObject *tools)
{
	static const char *const of_tools[] = { "ahead", NULL };
	static const char *const of_tool[] = { "__name__", "ahead", NULL };
	static const char *const of_answer[] = { "_tool", NULL };
	static const char *const of_call[] = { "tool",	"text",	 "over",
					       "error", "value", "answer",
					       NULL };

	return slots_find(tools, of_tools, &quick.tools.ahead) &&
	       slots_find(quick.tool_type, of_tool, &quick.tool.name) &&
	       slots_find(quick.answer_type, of_answer, &quick.answer.tool) &&
	       slots_find(quick.call_type, of_call, &quick.call.tool);
}

static bool find_objects(void)
{
	PyObject *asyncio = PyImport_ImportModule("asyncio"), *future, *decoder;

	return slots_keep(&future, asyncio, "Future") &&
	       slots_keep(&decoder, PyImport_ImportModule("json"),
			  "_default_decoder") &&
	       slots_keep(&quick.running_loop, asyncio, "_get_running_loop") &&
	       slots_keep(&quick.get_loop, future, "get_loop") &&
	       slots_keep(&quick.done, future, "done") &&
	       slots_keep(&quick.set_result, future, "set_result") &&
	       slots_keep(&quick.scan, decoder, "scan_once") &&
	       slots_keep(&quick.tool_called, (PyObject *)quick.tool_type,
			  "__call__");
}

int quick_start(void)
{
	PyTypeObject *tools = type_of_ours("Tools");

	quick.tool_type = type_of_ours("Tool");
	quick.call_type = type_of_ours("Call");
	quick.answer_type = type_of_ours("Answer");
	quick.sent = PyDict_GetItemString(guest.hooks, "sent");
	quick.unsent = PyDict_GetItemString(guest.hooks, "unsent");
	quick.none = PyTuple_New(0);
	quick.s_loop = PyUnicode_InternFromString("loop");
	quick.s_append = PyUnicode_InternFromString("append");
	if (!find_objects() || !find_slots(tools))
		return -1;
	quick.tools_getattr = tools->tp_getattro;
	tools->tp_getattro = tools_getattr;
	quick.tool_type->tp_call = tool_call;
	quick.answer_type->tp_getattro = answer_getattr;
	return 0;
}

/* The image's entry points; see docs/design/python.md. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define VALUE_NAME "__redoma_value__"
#define WARM_RUNS 3

void redoma_init(void);
volatile int32_t *redoma_interrupt_ptr(void);
void *redoma_alloc(uint32_t n);
void redoma_free(void *p);
int32_t redoma_run(const char *request, uint32_t len);
struct guest_result *redoma_result(void);

struct guest guest;

static PyObject *hook(const char *name)
{
	return PyDict_GetItemString(guest.hooks, name); /* borrowed */
}

static PyObject *text_at(const struct guest_span *s)
{
	return PyUnicode_DecodeUTF8(guest.base + s->off, s->len,
				    "surrogateescape");
}

PyObject *texts(const struct guest_span *s, uint32_t n)
{
	PyObject *list = PyList_New(n);

	for (uint32_t i = 0; list && i < n; i++) {
		PyObject *v = text_at(&s[i]);

		if (!v)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, v);
	}
	return list;
}

/* Arguments, environment, input: only what there is costs anything. */
static int set_scene(PyObject *name)
{
	const struct guest_request *q = guest.request;
	PyObject *argv = texts(guest.args, guest.argc);
	PyObject *env = texts(guest.env, guest.envc);
	PyObject *input = q->input.len ? text_at(&q->input)
				       : Py_NewRef(Py_None);
	PyObject *r = NULL;

	if (argv && env && input)
		r = PyObject_CallFunctionObjArgs(hook("begin"), name, argv, env,
						 input, guest.scope, NULL);
	Py_XDECREF(argv);
	Py_XDECREF(env);
	Py_XDECREF(input);
	Py_XDECREF(r);
	return r ? 0 : -1;
}

/* The value of a program that ended: its last expression, or `result`. */
static PyObject *take_value(PyObject *value_name)
{
	PyObject *v = PyDict_GetItemWithError(guest.scope, value_name);

	if (!v || v == Py_None)
		v = PyDict_GetItemString(guest.scope, "result");
	return Py_NewRef(v ? v : Py_None);
}

/* The value, or NULL with an exception pending. */
static PyObject *run(bool *ret_syntax)
{
	const struct guest_request *q = guest.request;
	PyObject *name = text_at(&q->name);
	PyObject *value_name = PyUnicode_InternFromString(VALUE_NAME);
	PyObject *code, *r;

	if (!name || !value_name || set_scene(name) ||
	    (guest.toolc && tools_start()))
		return NULL;
	code = source_compile(guest.base + q->source.off, name, value_name);
	*ret_syntax = !code;
	if (!code)
		return NULL;
	r = PyEval_EvalCode(code, guest.scope, guest.scope);
	if (r && (((PyCodeObject *)code)->co_flags & CO_COROUTINE))
		Py_SETREF(r, PyObject_CallOneArg(hook("awaited"), r));
	Py_DECREF(code);
	if (!r)
		return NULL;
	Py_DECREF(r);
	if (guest.toolc && tools_end())
		return NULL;
	return take_value(value_name);
}

/* What an interpreter does at its end. */
static void finish(void)
{
	PyObject *e = PyErr_GetRaisedException();
	PyObject *r = PyObject_CallNoArgs(hook("finish"));

	Py_XDECREF(r);
	PyErr_Clear();
	if (e)
		PyErr_SetRaisedException(e);
}

EXPORT(redoma_run) int32_t redoma_run(const char *request, uint32_t len)
{
	bool syntax = false;
	PyObject *v;

	memset(&guest.result, 0, sizeof(guest.result));
	guest.result.magic = GUEST_RESULT_MAGIC;
	if (!request_take(request, len))
		__builtin_trap();
	v = run(&syntax);
	if (v)
		outcome_value(v);
	else
		outcome_error(syntax);
	finish();
	return guest.result.kind == GUEST_OK ? 0 : 1;
}

/* A run of ours, so that what the first run would set up is set up. */
static void warm_up(const char *source)
{
	static const char name[] = "warm.py";
	uint32_t n = (uint32_t)strlen(source);
	uint32_t head = sizeof(struct guest_request) + 12;
	char *p = calloc(1, head + n + 1 + sizeof(name));
	struct guest_request *q = (struct guest_request *)p;

	q->magic = GUEST_REQUEST_MAGIC;
	q->source = (struct guest_span){ head, n };
	q->name = (struct guest_span){ head + n + 1, sizeof(name) - 1 };
	memcpy(p + head, source, n);
	memcpy(p + head + n + 1, name, sizeof(name));
	redoma_run(p, head + n + 1 + sizeof(name));
	free(p);
}

/* What lies below the stack pointer is of no use to a run. */
__attribute__((noinline)) static void clear_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	memset((void *)1024, 0, here - 4096);
}

EXPORT(redoma_init) void redoma_init(void)
{
	static const char *const sources[] = {
		"1+1",
		"import json\nx = [1.5, 'a', {'b': None}]\nprint(end='')\nx",
		"1/0",
		"def f(:",
		"import json, math, re\n"
		"from collections import defaultdict\n"
		"rows = [{'name': 'a%d' % i, 'v': i * 1.5}\n"
		"        for i in range(20)]\n"
		"tot = defaultdict(float)\n"
		"for r in rows:\n"
		"    tot[r['name'][:2]] += r['v']\n"
		"best = sorted(tot.items(), key=lambda kv: -kv[1])[:3]\n"
		"m = re.match(r'(\\w+)-(\\d+)', 'ab-12')\n"
		"s = f'{math.sqrt(2):.3f} {m.group(1)}'\n"
		"json.loads(json.dumps({'best': best, 's': s}))",
		"import datetime as d, statistics\n"
		"class P:\n"
		"    def __init__(self, x): self.x = x\n"
		"    def f(self): return [i ** 2 for i in range(self.x)]\n"
		"try: 1/0\n"
		"except ZeroDivisionError as e: q = str(e)\n"
		"print(end='')\n"
		"{'m': statistics.mean([1, 2, 3.5]), 'p': P(4).f(), 'q': q,\n"
		" 'd': d.date(2024, 1, 1) + d.timedelta(days=3)}",
	};

	PyObject *roots;

	start_interpreter();
	for (int k = 0; k < WARM_RUNS; k++)
		for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
			warm_up(sources[i]);
	roots = PyObject_CallNoArgs(hook("settle"));
	if (!roots) {
		PyErr_Print();
		__builtin_trap();
	}
	settle_memory(roots);
	memset(&guest.result, 0, sizeof(guest.result));
	guest.oom = false;
	system_start();
	clear_stack();
}

EXPORT(redoma_interrupt_ptr) volatile int32_t *redoma_interrupt_ptr(void)
{
	return poll_word();
}

EXPORT(redoma_alloc) void *redoma_alloc(uint32_t n)
{
	return malloc(n);
}

EXPORT(redoma_free) void redoma_free(void *p)
{
	free(p);
}

EXPORT(redoma_result) struct guest_result *redoma_result(void)
{
	return &guest.result;
}

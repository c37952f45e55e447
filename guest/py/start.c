/* The interpreter as the image holds it: initialised, the prelude run, the
 * common modules imported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"

static const char prelude[] = {
#embed "prelude.py"
	, 0
};
static const char shared[] = {
#embed "shared.py"
	, 0
};
static const char absent[] = {
#embed "absent.py"
	, 0
};
static const char carry[] = {
#embed "carry.py"
	, 0
};
static const char loop[] = {
#embed "loop.py"
	, 0
};
static const char zone[] = {
#embed "zone.py"
	, 0
};
static const char tools[] = {
#embed "tools.py"
	, 0
};

/* While an image is made there is nobody to hear it but snapshot, which shows
 * what is written to standard error. */
_Noreturn static void fail(const char *what, const char *why)
{
	fprintf(stderr, "python image: %s: %s\n", what, why ? why : "");
	if (PyErr_Occurred())
		PyErr_Print();
	fflush(stderr);
	__builtin_trap();
}

static void check(PyStatus st, const char *what)
{
	if (PyStatus_Exception(st))
		fail(what, st.err_msg);
}

static void configure(PyConfig *c)
{
	PyConfig_InitIsolatedConfig(c);
	/* The secret is the image's; see SECURITY.md. */
	c->use_hash_seed = 1;
	c->hash_seed = 0;
	c->site_import = 0;
	c->write_bytecode = 0;
	c->install_signal_handlers = 0;
	c->pathconfig_warnings = 0;
	c->module_search_paths_set = 1;
	c->use_frozen_modules = 1;
	/* What was printed has left when a deadline comes. */
	c->buffered_stdio = 0;
	check(PyConfig_SetString(c, &c->program_name, L"python3"), "name");
	check(PyConfig_SetString(c, &c->executable, L""), "executable");
	check(PyConfig_SetString(c, &c->base_executable, L""), "executable");
	check(PyConfig_SetString(c, &c->prefix, L"/"), "prefix");
	check(PyConfig_SetString(c, &c->exec_prefix, L"/"), "prefix");
	check(PyConfig_SetString(c, &c->base_prefix, L"/"), "prefix");
	check(PyConfig_SetString(c, &c->base_exec_prefix, L"/"), "prefix");
	check(PyConfig_SetString(c, &c->stdlib_dir, L""), "library");
	check(PyConfig_SetString(c, &c->stdio_encoding, L"utf-8"), "encoding");
	/* Half of a surrogate pair is no UTF-8 but no reason to fail. */
	check(PyConfig_SetString(c, &c->stdio_errors, L"backslashreplace"),
	      "encoding");
}

static void run_ours(const char *text, const char *name)
{
	PyObject *code = Py_CompileString(text, name, Py_file_input);
	PyObject *r = code ? PyEval_EvalCode(code, guest.hooks, guest.hooks)
			   : NULL;

	if (!r)
		fail(name, "cannot run");
	Py_DECREF(r);
	Py_DECREF(code);
}

/* SOURCE(): the text of the program, for tracebacks. */
static PyObject *py_source(PyObject *self, PyObject *none)
{
	const struct guest_request *q = guest.request;

	return PyUnicode_DecodeUTF8(guest.base + q->source.off, q->source.len,
				    "replace");
}

/* DATA(name): bytes that are no module, or None. */
static PyObject *py_data(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	const void *p;
	size_t n;

	if (!text)
		return NULL;
	if (!library_data(text, &p, &n))
		Py_RETURN_NONE;
	return PyBytes_FromStringAndSize(p, (Py_ssize_t)n);
}

/* DATA_NAMES(): of all of them. */
static PyObject *py_data_names(PyObject *self, PyObject *none)
{
	PyObject *list = PyList_New(0);
	const char *name;

	for (size_t i = 0; list && (name = library_data_name(i)); i++) {
		PyObject *v = PyUnicode_FromString(name);

		if (!v || PyList_Append(list, v))
			Py_CLEAR(list);
		Py_XDECREF(v);
	}
	return list;
}

static PyMethodDef ours[] = {
	{ "SOURCE", py_source, METH_NOARGS, NULL },
	{ "DATA", py_data, METH_O, NULL },
	{ "DATA_NAMES", py_data_names, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static int add(PyMethodDef *m)
{
	for (; m->ml_name; m++)
		if (PyDict_SetItemString(guest.hooks, m->ml_name,
					 PyCFunction_New(m, NULL)))
			return -1;
	return 0;
}

static void load_prelude(void)
{
	guest.hooks = PyDict_New();
	if (!guest.hooks ||
	    PyDict_SetItemString(guest.hooks, "__builtins__",
				 PyEval_GetBuiltins()) ||
	    PyDict_SetItemString(guest.hooks, "__name__",
				 PyUnicode_FromString("_redoma")))
		fail("prelude", "no memory");
	guest.kept = PyList_New(0);
	if (!guest.kept || PyDict_SetItemString(guest.hooks, "KEPT_BY_C",
						guest.kept))
		fail("prelude", "no memory");
	if (add(ours) || add(tools_methods) || add(zone_methods))
		fail("prelude", "no memory");
	guest.scope = PyModule_GetDict(PyImport_AddModule("__main__"));
	if (PyDict_SetItemString(guest.hooks, "SCOPE", guest.scope))
		fail("prelude", "no memory");
	run_ours(absent, "<redoma>");
	run_ours(prelude, "<redoma>");
	run_ours(shared, "<redoma>");
	run_ours(carry, "<redoma>");
	run_ours(loop, "<redoma>");
	run_ours(zone, "<redoma>");
	run_ours(tools, "<redoma>");
	if (turn_start() || quick_start())
		fail("tools", "the library's classes are others");
}

void start_interpreter(void)
{
	PyPreConfig pre;
	PyConfig c;

	library_offer();
	PyPreConfig_InitIsolatedConfig(&pre);
	pre.utf8_mode = 1;
	check(Py_PreInitialize(&pre), "before start");
	configure(&c);
	check(Py_InitializeFromConfig(&c), "start");
	PyConfig_Clear(&c);
	sqlite_prepare();
	load_prelude();
}

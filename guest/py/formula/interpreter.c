/* The interpreter as the image holds it: initialised, the helpers defined, and
 * only the modules that they use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formula.h"

static char core_py[] = {
#embed "core.py"
	, 0
};
static char logic_py[] = {
#embed "logic.py"
	, 0
};
static char number_py[] = {
#embed "number.py"
	, 0
};
static char list_py[] = {
#embed "list.py"
	, 0
};
static char text_py[] = {
#embed "text.py"
	, 0
};
static char mask_py[] = {
#embed "mask.py"
	, 0
};
static char format_py[] = {
#embed "format.py"
	, 0
};
static char date_py[] = {
#embed "date.py"
	, 0
};
static char look_py[] = {
#embed "look.py"
	, 0
};
static char names_py[] = {
#embed "names.py"
	, 0
};

static const struct {
	const char *name;
	char *text; /* zeroed after use */
	size_t size;
} files[] = {
	{ "core", core_py, sizeof(core_py) },
	{ "logic", logic_py, sizeof(logic_py) },
	{ "number", number_py, sizeof(number_py) },
	{ "list", list_py, sizeof(list_py) },
	{ "text", text_py, sizeof(text_py) },
	{ "mask", mask_py, sizeof(mask_py) },
	{ "format", format_py, sizeof(format_py) },
	{ "date", date_py, sizeof(date_py) },
	{ "look", look_py, sizeof(look_py) },
	{ "names", names_py, sizeof(names_py) },
};

/* What there is in C; the image of programs has many more. */
PyObject *PyInit__abc(void);
PyObject *PyInit__codecs(void);
PyObject *PyInit__collections(void);
PyObject *PyInit__datetime(void);
PyObject *PyInit__functools(void);
PyObject *PyInit__imp(void);
PyObject *PyInit__io(void);
PyObject *PyInit__locale(void);
PyObject *PyInit__operator(void);
PyObject *PyInit__signal(void);
PyObject *PyInit__sre(void);
PyObject *PyInit__stat(void);
PyObject *PyInit__thread(void);
PyObject *PyInit__typing(void);
PyObject *PyInit__weakref(void);
PyObject *PyInit_atexit(void);
PyObject *PyInit_errno(void);
PyObject *PyInit_faulthandler(void);
PyObject *PyInit_gc(void);
PyObject *PyInit_itertools(void);
PyObject *PyInit_math(void);
PyObject *PyInit_posix(void);
PyObject *PyInit_time(void);
PyObject *PyInit_unicodedata(void);
PyObject *PyMarshal_Init(void);
PyObject *_PyWarnings_Init(void);

struct _inittab _PyImport_Inittab[] = {
	{ "_abc", PyInit__abc },
	{ "_codecs", PyInit__codecs },
	{ "_collections", PyInit__collections },
	{ "_datetime", PyInit__datetime },
	{ "_functools", PyInit__functools },
	{ "_imp", PyInit__imp },
	{ "_io", PyInit__io },
	{ "_locale", PyInit__locale },
	{ "_operator", PyInit__operator },
	{ "_signal", PyInit__signal },
	{ "_sre", PyInit__sre },
	{ "_stat", PyInit__stat },
	{ "_thread", PyInit__thread },
	{ "_typing", PyInit__typing },
	{ "_warnings", _PyWarnings_Init },
	{ "_weakref", PyInit__weakref },
	{ "atexit", PyInit_atexit },
	{ "builtins", NULL },
	{ "errno", PyInit_errno },
	{ "faulthandler", PyInit_faulthandler },
	{ "gc", PyInit_gc },
	{ "itertools", PyInit_itertools },
	{ "marshal", PyMarshal_Init },
	{ "math", PyInit_math },
	{ "posix", PyInit_posix },
	{ "sys", NULL },
	{ "time", PyInit_time },
	{ "unicodedata", PyInit_unicodedata },
	{ NULL, NULL },
};

PyObject *formula_scope;

PyObject *formula_hook(const char *name)
{
	return PyDict_GetItemString(formula_scope, name);
}

/* While an image is made there is nobody to hear it but snapshot, which shows
 * what is written to standard error. */
_Noreturn static void fail(const char *what, const char *why)
{
	fprintf(stderr, "formulas in python: %s: %s\n", what, why ? why : "");
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
	check(PyConfig_SetString(c, &c->stdio_errors, L"backslashreplace"),
	      "encoding");
}

static void load(size_t i)
{
	PyObject *code = Py_CompileStringExFlags(
		files[i].text, files[i].name, Py_file_input, NULL, 2);
	PyObject *r = code ? PyEval_EvalCode(code, formula_scope, formula_scope)
			   : NULL;

	if (!r)
		fail(files[i].name, "cannot run");
	memset(files[i].text, 0, files[i].size);
	Py_DECREF(r);
	Py_DECREF(code);
}

static void add(PyMethodDef *m)
{
	for (; m->ml_name; m++)
		if (PyDict_SetItemString(formula_scope, m->ml_name,
					 PyCFunction_New(m, NULL)))
			fail("helpers", "no memory");
}

static void load_helpers(void)
{
	formula_scope = PyDict_New();
	if (!formula_scope ||
	    PyDict_SetItemString(formula_scope, "__builtins__",
				 PyEval_GetBuiltins()) ||
	    PyDict_SetItemString(formula_scope, "__name__",
				 PyUnicode_FromString("formula")) ||
	    PyDict_SetItemString(formula_scope, "FORMULA",
				 PyUnicode_FromString("formula")))
		fail("helpers", "no memory");
	add(table_methods);
	add(iter_methods);
	add(times_methods);
	poll_ending = PyErr_NewException("formula.RowOver", PyExc_BaseException,
					 NULL);
	if (!poll_ending || table_types() || iter_types())
		fail("helpers", "no types");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		load(i);
	times_refuse();
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
	load_helpers();
}

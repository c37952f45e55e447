/* A program to code.  The value of a program is that of its last expression,
 * as in a notebook: the tree's last statement becomes an assignment. */
#define Py_BUILD_CORE 1
#include <string.h>
#include "guest.h"
#include "internal/pycore_asdl.h"
#include "internal/pycore_ast.h"
#include "internal/pycore_compile.h"
#include "internal/pycore_parser.h"
#include "internal/pycore_pyarena.h"

PyObject *__wrap__PyErr_ProgramDecodedTextObject(PyObject *file, int line,
						 const char *encoding);
PyObject *__wrap_PyErr_ProgramTextObject(PyObject *file, int line);

/* A line of the program, for a SyntaxError: the linker sends the interpreter
 * here (--wrap), which would look for a file of that name. */
static PyObject *line_of(PyObject *file, int line)
{
	const struct guest_request *q = guest.request;
	const char *p, *end, *stop;

	if (!q || !PyUnicode_Check(file) ||
	    !PyUnicode_EqualToUTF8(file, guest.base + q->name.off))
		return NULL;
	p = guest.base + q->source.off;
	end = p + q->source.len;
	while (--line > 0 && p < end) {
		stop = memchr(p, '\n', (size_t)(end - p));
		p = stop ? stop + 1 : end;
	}
	stop = memchr(p, '\n', (size_t)(end - p));
	stop = stop ? stop + 1 : end;
	return PyUnicode_DecodeUTF8(p, stop - p, "replace");
}

PyObject *__wrap__PyErr_ProgramDecodedTextObject(PyObject *file, int line,
						 const char *encoding)
{
	return line_of(file, line);
}

PyObject *__wrap_PyErr_ProgramTextObject(PyObject *file, int line)
{
	return line_of(file, line);
}

static bool keep_value(mod_ty m, PyObject *value_name, PyArena *arena)
{
	asdl_stmt_seq *body = m->v.Module.body;
	Py_ssize_t n = asdl_seq_LEN(body);
	asdl_expr_seq *targets;
	stmt_ty last, kept;
	expr_ty name;

	if (!n)
		return true;
	last = asdl_seq_GET(body, n - 1);
	if (last->kind != Expr_kind)
		return true;
	targets = _Py_asdl_expr_seq_new(1, arena);
	name = _PyAST_Name(value_name, Store, last->lineno, last->col_offset,
			   last->end_lineno, last->end_col_offset, arena);
	if (!targets || !name)
		return false;
	asdl_seq_SET(targets, 0, name);
	kept = _PyAST_Assign(targets, last->v.Expr.value, NULL, last->lineno,
			     last->col_offset, last->end_lineno,
			     last->end_col_offset, arena);
	if (!kept)
		return false;
	asdl_seq_SET(body, n - 1, kept);
	return true;
}

PyObject *source_compile(const char *text, PyObject *name,
			 PyObject *value_name)
{
	PyCompilerFlags flags = _PyCompilerFlags_INIT;
	PyArena *arena = _PyArena_New();
	PyObject *code = NULL;
	mod_ty m;

	if (!arena)
		return NULL;
	flags.cf_flags = PyCF_SOURCE_IS_UTF8 | PyCF_IGNORE_COOKIE |
			 PyCF_ALLOW_TOP_LEVEL_AWAIT;
	m = _PyParser_ASTFromString(text, name, Py_file_input, &flags, arena);
	if (m && keep_value(m, value_name, arena))
		code = (PyObject *)_PyAST_Compile(m, name, &flags, -1, arena);
	_PyArena_Free(arena);
	return code;
}

/* IF, IFS, SWITCH, AND, OR, IFERROR and IFNA as expressions that evaluate no
 * more than they need. */
#define Py_BUILD_CORE 1
#include <string.h>
#include "tree.h"

/* Where new nodes stand. */
#define PLACE(e) (e)->lineno, (e)->col_offset, (e)->end_lineno, \
		 (e)->end_col_offset

struct form {
	struct tree *t;
	expr_ty call;
	asdl_expr_seq *args;
	Py_ssize_t n;
};

static expr_ty arg(const struct form *f, Py_ssize_t i)
{
	return asdl_seq_GET(f->args, i);
}

static PyObject *text(const struct form *f, const char *s)
{
	PyObject *v = PyUnicode_InternFromString(s);

	return v && !_PyArena_AddPyObject(f->t->arena, v) ? v : NULL;
}

static expr_ty name(const struct form *f, const char *s)
{
	PyObject *v = text(f, s);

	return v ? _PyAST_Name(v, Load, PLACE(f->call), f->t->arena) : NULL;
}

static expr_ty literal(const struct form *f, PyObject *v)
{
	return _PyAST_Constant(v, NULL, PLACE(f->call), f->t->arena);
}

/* A call of a helper with the arguments that are not NULL. */
static expr_ty helper(const struct form *f, const char *which, expr_ty a,
		      expr_ty b)
{
	asdl_expr_seq *s = _Py_asdl_expr_seq_new(!!a + !!b, f->t->arena);
	expr_ty fn = name(f, which);

	if (!fn || ((a || b) && !s))
		return NULL;
	if (a)
		asdl_seq_SET(s, 0, a);
	if (b)
		asdl_seq_SET(s, 1, b);
	return _PyAST_Call(fn, s, NULL, PLACE(f->call), f->t->arena);
}

/* True or false of itself. */
static bool is_truth(expr_ty e)
{
	if (e->kind == BoolOp_kind) {
		for (Py_ssize_t i = 0; i < asdl_seq_LEN(e->v.BoolOp.values);
		     i++)
			if (!is_truth(asdl_seq_GET(e->v.BoolOp.values, i)))
				return false;
		return true;
	}
	return e->kind == Compare_kind ||
	       (e->kind == Constant_kind && PyBool_Check(e->v.Constant.value));
}

static expr_ty test(const struct form *f, expr_ty e, const char *which)
{
	return is_truth(e) ? e : helper(f, which, e, NULL);
}

static expr_ty choose(const struct form *f, expr_ty c, expr_ty a, expr_ty b)
{
	return c && a && b ? _PyAST_IfExp(c, a, b, PLACE(f->call), f->t->arena)
			   : NULL;
}

static expr_ty function(const struct form *f, PyObject *param, expr_ty body)
{
	asdl_arg_seq *list = _Py_asdl_arg_seq_new(!!param, f->t->arena);
	arguments_ty args;

	if (!body || (param && !list))
		return NULL;
	if (param) {
		arg_ty a = _PyAST_arg(param, NULL, NULL, PLACE(f->call),
				      f->t->arena);

		if (!a)
			return NULL;
		asdl_seq_SET(list, 0, a);
	}
	args = _PyAST_arguments(NULL, list, NULL, NULL, NULL, NULL, NULL,
				f->t->arena);
	return args ? _PyAST_Lambda(args, body, PLACE(f->call), f->t->arena)
		    : NULL;
}

static const char *form_if(const struct form *f, expr_ty *ret)
{
	if (f->n < 2 || f->n > 3)
		return "IF takes a condition and one or two values";
	*ret = choose(f, test(f, arg(f, 0), "$T"), arg(f, 1),
		      f->n == 3 ? arg(f, 2) : literal(f, Py_False));
	return NULL;
}

static const char *form_ifs(const struct form *f, expr_ty *ret)
{
	if (!f->n || f->n % 2)
		return "IFS takes pairs: a condition and a value";
	*ret = helper(f, "$N", NULL, NULL);
	for (Py_ssize_t i = f->n; i > 0; i -= 2)
		*ret = choose(f, test(f, arg(f, i - 2), "$T"), arg(f, i - 1),
			      *ret);
	return NULL;
}

static const char *form_switch(const struct form *f, expr_ty *ret)
{
	Py_ssize_t pairs = (f->n - 1) / 2;
	PyObject *s = text(f, "$s");
	asdl_expr_seq *given;
	expr_ty body, fn;

	if (f->n < 3)
		return "SWITCH takes a value, then pairs of a case and a value";
	body = f->n % 2 ? helper(f, "$N", NULL, NULL) : arg(f, f->n - 1);
	for (Py_ssize_t i = pairs; i > 0; i--)
		body = choose(f,
			      helper(f, "$Q", name(f, "$s"), arg(f, 2 * i - 1)),
			      arg(f, 2 * i), body);
	fn = s ? function(f, s, body) : NULL;
	given = _Py_asdl_expr_seq_new(1, f->t->arena);
	if (!fn || !given)
		return NULL;
	asdl_seq_SET(given, 0, arg(f, 0));
	*ret = _PyAST_Call(fn, given, NULL, PLACE(f->call), f->t->arena);
	return NULL;
}

static const char *form_all(const struct form *f, boolop_ty op,
			    const char *which, expr_ty *ret)
{
	asdl_expr_seq *s = _Py_asdl_expr_seq_new(f->n, f->t->arena);

	if (!f->n)
		return "AND and OR take at least one condition";
	for (Py_ssize_t i = 0; s && i < f->n; i++)
		asdl_seq_SET(s, i, test(f, arg(f, i), which));
	if (f->n == 1)
		*ret = asdl_seq_GET(s, 0);
	else if (s)
		*ret = _PyAST_BoolOp(op, s, PLACE(f->call), f->t->arena);
	return NULL;
}

static const char *form_and(const struct form *f, expr_ty *ret)
{
	return form_all(f, And, "$A", ret);
}

static const char *form_or(const struct form *f, expr_ty *ret)
{
	return form_all(f, Or, "$O", ret);
}

static const char *form_catch(const struct form *f, const char *which,
			      expr_ty *ret)
{
	expr_ty a, b;

	if (f->n < 1 || f->n > 2)
		return "IFERROR and IFNA take a value and what stands for an "
		       "error";
	f->t->f->catches = true;
	a = function(f, NULL, arg(f, 0));
	b = function(f, NULL, f->n == 2 ? arg(f, 1) : literal(f, Py_None));
	*ret = a && b ? helper(f, which, a, b) : NULL;
	return NULL;
}

static const char *form_iferror(const struct form *f, expr_ty *ret)
{
	return form_catch(f, "$E", ret);
}

static const char *form_ifna(const struct form *f, expr_ty *ret)
{
	return form_catch(f, "$EN", ret);
}

static const struct {
	const char *name;
	const char *(*put)(const struct form *f, expr_ty *ret);
} forms[] = {
	{ "IF", form_if },	     { "IFS", form_ifs },
	{ "SWITCH", form_switch },   { "AND", form_and },
	{ "OR", form_or },	     { "IFERROR", form_iferror },
	{ "IFNA", form_ifna },
};

const char *form_put(struct tree *t, expr_ty call)
{
	struct form f = { t, call, call->v.Call.args,
			  asdl_seq_LEN(call->v.Call.args) };
	const char *why = NULL;
	expr_ty e = call;

	for (Py_ssize_t i = 0; i < f.n; i++)
		if (arg(&f, i)->kind == Starred_kind)
			return NULL; /* the helper of that name does it */
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		if (!PyUnicode_EqualToUTF8(call->v.Call.func->v.Name.id,
					   forms[i].name))
			continue;
		e = NULL;
		why = forms[i].put(&f, &e);
		if (!why && !e && !PyErr_Occurred())
			PyErr_NoMemory();
	}
	if (e && e != call && !why)
		*call = *e;
	return why;
}

void form_repeat(struct tree *t, expr_ty product)
{
	struct form f = { .t = t, .call = product };
	expr_ty e = helper(&f, "$R", product->v.BinOp.left,
			   product->v.BinOp.right);

	if (e)
		*product = *e;
	else if (!PyErr_Occurred())
		PyErr_NoMemory();
}

/* A formula's text becomes a function.
 *
 * The language's own parser makes a tree.  Names of columns in it become
 * parameters, the special forms become expressions that evaluate no more than
 * they need, and what leads out of a row's own values is refused. */
#define Py_BUILD_CORE 1
#include <stdlib.h>
#include <string.h>
#include "tree.h"

#define DEPTH_MAX 200

PyObject *__wrap__PyErr_ProgramDecodedTextObject(PyObject *file, int line,
						 const char *encoding);
PyObject *__wrap_PyErr_ProgramTextObject(PyObject *file, int line);

/* A line of the source for a SyntaxError: the linker sends the interpreter here
 * (--wrap), which would look for a file. */
PyObject *__wrap__PyErr_ProgramDecodedTextObject(PyObject *file, int line,
						 const char *encoding)
{
	return NULL;
}

PyObject *__wrap_PyErr_ProgramTextObject(PyObject *file, int line)
{
	return NULL;
}

static void wrong(struct tree *t, const char *why)
{
	if (!t->wrong)
		t->wrong = why;
}

/* ---- parameters ---- */

/* The parameter of that meaning; called `name`, or by its number. */
static PyObject *param(struct tree *t, enum formula_name what, uint32_t at,
		       PyObject *name)
{
	struct formula *f = t->f;
	struct formula_param *p;

	for (uint32_t i = 0; i < f->n_params; i++) {
		p = &f->params[i];
		if (p->what == what && p->at == at &&
		    (!name || PyUnicode_Compare(p->name, name) == 0))
			return p->name;
	}
	if (f->n_params == FORMULA_PARAMS_MAX) {
		wrong(t, "it names more than 256 columns");
		return NULL;
	}
	if (!(f->n_params & (f->n_params + 1))) {
		p = realloc(f->params, 2 * (f->n_params + 1) * sizeof(*p));
		if (!p) {
			PyErr_NoMemory();
			return NULL;
		}
		f->params = p;
	}
	name = name ? Py_NewRef(name)
		    : PyUnicode_FromFormat("$%u", (unsigned)f->n_params);
	if (!name)
		return NULL;
	PyUnicode_InternInPlace(&name);
	if (_PyArena_AddPyObject(t->arena, name))
		return NULL;
	f->params[f->n_params++] = (struct formula_param){ what, at, name };
	return name;
}

/* A formula hides a column of the table of that name, but for itself:
 * "price=price * 2". */
static bool has_column(uint32_t formula, const char *p, size_t n, uint32_t *ret)
{
	for (uint32_t i = table.head.columns + table.head.formulas; i-- > 0;)
		if (i != table.head.columns + formula &&
		    table.columns[i].name_len == n &&
		    !memcmp(table.columns[i].name, p, n)) {
			*ret = i;
			return true;
		}
	return false;
}

static bool find_column(const struct tree *t, PyObject *name, uint32_t *ret)
{
	Py_ssize_t n;
	const char *p = PyUnicode_AsUTF8AndSize(name, &n);

	if (p)
		return has_column(t->index, p, (size_t)n, ret);
	PyErr_Clear();
	return false;
}

static void note_need(struct tree *t, uint32_t column)
{
	struct formula *f = t->f;
	uint32_t other = column - table.head.columns;

	if (column < table.head.columns)
		return;
	for (uint32_t i = 0; i < f->n_needs; i++)
		if (f->needs[i] == other)
			return;
	if (!f->needs)
		f->needs = calloc(table.head.formulas, sizeof(*f->needs));
	if (f->needs)
		f->needs[f->n_needs++] = other;
}

static bool is_word(PyObject *name, const char *word)
{
	return PyUnicode_EqualToUTF8(name, word);
}

/* ---- names ---- */

static bool is_helper(PyObject *name)
{
	return PyDict_Contains(formula_hook("HELPERS"), name) == 1;
}

static void plain_name(struct tree *t, expr_ty e)
{
	PyObject *id = e->v.Name.id;
	uint32_t at;

	if (is_word(id, "index"))
		param(t, FORMULA_INDEX, 0, id);
	else if (is_word(id, "row") || is_word(id, "col"))
		param(t, FORMULA_ROW, 0, id);
	else if (is_word(id, "rows"))
		param(t, FORMULA_ROWS, 0, id);
	else if (!is_helper(id) && find_column(t, id, &at)) {
		note_need(t, at);
		param(t, FORMULA_CELL, at, id);
	} else if (PyUnicode_GET_LENGTH(id) > 1 &&
		   PyUnicode_READ_CHAR(id, 0) == '_' &&
		   PyUnicode_READ_CHAR(id, 1) == '_') {
		wrong(t, "a name that begins with __ is a column or nothing");
	}
}

static bool is_helper_text(const char *p, size_t n)
{
	PyObject *name = PyUnicode_FromStringAndSize(p, (Py_ssize_t)n);
	bool yes = !name || is_helper(name);

	Py_XDECREF(name);
	PyErr_Clear();
	return yes;
}

enum formula_name tree_name(uint32_t i, const struct tree_word *word,
			    uint32_t *ret_at)
{
	bool index = word->n == 5 && !memcmp(word->p, "index", 5);

	if (index && !word->quoted)
		return FORMULA_INDEX;
	if (!word->quoted && is_helper_text(word->p, word->n))
		return FORMULA_NONE;
	return has_column(i, word->p, word->n, ret_at) ? FORMULA_CELL
						       : FORMULA_NONE;
}

/* row.NAME, row["NAME"]: the name; NULL: it is none of these. */
static PyObject *member_name(expr_ty e, expr_ty *ret_of)
{
	if (e->kind == Attribute_kind) {
		*ret_of = e->v.Attribute.value;
		return e->v.Attribute.attr;
	}
	if (e->kind != Subscript_kind ||
	    e->v.Subscript.slice->kind != Constant_kind ||
	    !PyUnicode_CheckExact(e->v.Subscript.slice->v.Constant.value))
		return NULL;
	*ret_of = e->v.Subscript.value;
	return e->v.Subscript.slice->v.Constant.value;
}

/* A column by its name behind row, col or rows becomes a parameter. */
static bool member(struct tree *t, expr_ty e)
{
	expr_ty of;
	PyObject *name = member_name(e, &of), *arg;
	bool whole;
	uint32_t at;

	if (!name || of->kind != Name_kind)
		return false;
	whole = is_word(of->v.Name.id, "rows");
	if ((!whole && !is_word(of->v.Name.id, "row") &&
	     !is_word(of->v.Name.id, "col")) ||
	    !find_column(t, name, &at))
		return false;
	note_need(t, at);
	arg = param(t, whole ? FORMULA_WHOLE : FORMULA_CELL, at, NULL);
	if (!arg)
		return true;
	e->kind = Name_kind;
	e->v.Name.id = arg;
	e->v.Name.ctx = Load;
	return true;
}

/* Names that lead to the insides of functions and frames. */
static bool is_inside(PyObject *name)
{
	static const char *const heads[] = { "_", "gi_", "cr_", "ag_", "f_",
					     "tb_", "co_", "func_" };
	const char *p = PyUnicode_AsUTF8(name);

	if (!p) {
		PyErr_Clear();
		return true;
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strncmp(p, heads[i], strlen(heads[i])))
			return true;
	return !strcmp(p, "mro");
}

/* ---- the tree ---- */

static void walk(struct tree *t, expr_ty e);

static void walk_all(struct tree *t, asdl_expr_seq *s)
{
	for (Py_ssize_t i = 0; i < asdl_seq_LEN(s); i++)
		walk(t, asdl_seq_GET(s, i));
}

static bool is_target(expr_ty e);

static bool are_targets(asdl_expr_seq *s)
{
	for (Py_ssize_t i = 0; i < asdl_seq_LEN(s); i++)
		if (!is_target(asdl_seq_GET(s, i)))
			return false;
	return true;
}

/* A loop gives names of its own their values, and assigns to nothing else: an
 * attribute or an element outlives the row. */
static bool is_target(expr_ty e)
{
	switch (e->kind) {
	case Name_kind:
		return true;
	case Starred_kind:
		return is_target(e->v.Starred.value);
	case List_kind:
		return are_targets(e->v.List.elts);
	case Tuple_kind:
		return are_targets(e->v.Tuple.elts);
	default:
		return false;
	}
}

static const char not_a_target[] =
	"it assigns to an attribute or an element: the targets of a loop are "
	"names";

static void walk_loops(struct tree *t, asdl_comprehension_seq *s)
{
	for (Py_ssize_t i = 0; i < asdl_seq_LEN(s); i++) {
		comprehension_ty c = asdl_seq_GET(s, i);

		if (c->is_async)
			wrong(t, "a formula does not wait");
		if (!is_target(c->target))
			wrong(t, not_a_target);
		walk(t, c->target);
		walk(t, c->iter);
		walk_all(t, c->ifs);
	}
}

static void walk_call(struct tree *t, expr_ty e)
{
	asdl_keyword_seq *k = e->v.Call.keywords;

	walk(t, e->v.Call.func);
	walk_all(t, e->v.Call.args);
	for (Py_ssize_t i = 0; i < asdl_seq_LEN(k); i++)
		walk(t, asdl_seq_GET(k, i)->value);
	/* Only where it stands by its name alone; and what stands in it is
	 * done already. */
	if (e->v.Call.func->kind == Name_kind && !asdl_seq_LEN(k))
		wrong(t, form_put(t, e));
}

/* Attributes and elements are read only, wherever the language's grammar comes
 * to let them stand. */
static bool is_read(struct tree *t, expr_context_ty ctx)
{
	if (ctx != Load)
		wrong(t, not_a_target);
	return ctx == Load;
}

static bool is_format(PyObject *name)
{
	return is_word(name, "format") || is_word(name, "format_map");
}

static void walk_attribute(struct tree *t, expr_ty e)
{
	if (!is_read(t, e->v.Attribute.ctx) || member(t, e))
		return;
	if (is_format(e->v.Attribute.attr))
		wrong(t, "str.format reads attributes by names in a text: use "
			 "an f-string, or TEXT(value, format)");
	if (is_inside(e->v.Attribute.attr))
		wrong(t, "it names an attribute that begins with _ or leads "
			 "inside of a function");
	walk(t, e->v.Attribute.value);
}

static void walk_loop(struct tree *t, expr_ty e)
{
	switch (e->kind) {
	case DictComp_kind:
		walk_loops(t, e->v.DictComp.generators);
		walk(t, e->v.DictComp.key);
		walk(t, e->v.DictComp.value);
		return;
	case ListComp_kind:
		walk_loops(t, e->v.ListComp.generators);
		walk(t, e->v.ListComp.elt);
		return;
	case SetComp_kind:
		walk_loops(t, e->v.SetComp.generators);
		walk(t, e->v.SetComp.elt);
		return;
	default:
		walk_loops(t, e->v.GeneratorExp.generators);
		walk(t, e->v.GeneratorExp.elt);
	}
}

static void walk_slots(struct tree *t, expr_ty a, expr_ty b, expr_ty c)
{
	walk(t, a);
	walk(t, b);
	walk(t, c);
}

static void walk_lambda(struct tree *t, expr_ty e)
{
	walk_all(t, e->v.Lambda.args->defaults);
	walk_all(t, e->v.Lambda.args->kw_defaults);
	walk(t, e->v.Lambda.body);
}

/* A text that its author wrote: '-', f"{name} ", or some of them joined. */
static bool is_written(expr_ty e)
{
	if (e->kind == BinOp_kind)
		return e->v.BinOp.op == Add && is_written(e->v.BinOp.left) &&
		       is_written(e->v.BinOp.right);
	return e->kind == JoinedStr_kind ||
	       (e->kind == Constant_kind &&
		PyUnicode_Check(e->v.Constant.value));
}

/* Such a text times a number repeats it; no other text does (times.c). */
static void walk_operator(struct tree *t, expr_ty e)
{
	walk_slots(t, e->v.BinOp.left, e->v.BinOp.right, NULL);
	if (t->wrong || e->v.BinOp.op != Mult ||
	    (!is_written(e->v.BinOp.left) && !is_written(e->v.BinOp.right)))
		return;
	form_repeat(t, e);
}

static void walk_compound(struct tree *t, expr_ty e)
{
	switch (e->kind) {
	case BoolOp_kind:
		walk_all(t, e->v.BoolOp.values);
		return;
	case Compare_kind:
		walk(t, e->v.Compare.left);
		walk_all(t, e->v.Compare.comparators);
		return;
	case Dict_kind:
		walk_all(t, e->v.Dict.keys);
		walk_all(t, e->v.Dict.values);
		return;
	case Set_kind:
		walk_all(t, e->v.Set.elts);
		return;
	case List_kind:
		walk_all(t, e->v.List.elts);
		return;
	case Tuple_kind:
		walk_all(t, e->v.Tuple.elts);
		return;
	case JoinedStr_kind:
		walk_all(t, e->v.JoinedStr.values);
		return;
	case ListComp_kind:
	case SetComp_kind:
	case DictComp_kind:
	case GeneratorExp_kind:
		walk_loop(t, e);
		return;
	default:
		wrong(t, "a formula does not wait or yield: it is one "
			 "expression over its row");
	}
}

static void walk_kind(struct tree *t, expr_ty e)
{
	switch (e->kind) {
	case Constant_kind:
		return;
	case Name_kind:
		plain_name(t, e);
		return;
	case Attribute_kind:
		walk_attribute(t, e);
		return;
	case Subscript_kind:
		if (is_read(t, e->v.Subscript.ctx) && !member(t, e))
			walk_slots(t, e->v.Subscript.value,
				   e->v.Subscript.slice, NULL);
		return;
	case Call_kind:
		walk_call(t, e);
		return;
	case NamedExpr_kind:
		walk_slots(t, e->v.NamedExpr.target, e->v.NamedExpr.value,
			   NULL);
		return;
	case BinOp_kind:
		walk_operator(t, e);
		return;
	case UnaryOp_kind:
		walk(t, e->v.UnaryOp.operand);
		return;
	case IfExp_kind:
		walk_slots(t, e->v.IfExp.test, e->v.IfExp.body,
			   e->v.IfExp.orelse);
		return;
	case Lambda_kind:
		walk_lambda(t, e);
		return;
	case Starred_kind:
		walk(t, e->v.Starred.value);
		return;
	case Slice_kind:
		walk_slots(t, e->v.Slice.lower, e->v.Slice.upper,
			   e->v.Slice.step);
		return;
	case FormattedValue_kind:
		walk_slots(t, e->v.FormattedValue.value,
			   e->v.FormattedValue.format_spec, NULL);
		return;
	default:
		walk_compound(t, e);
	}
}

static void walk(struct tree *t, expr_ty e)
{
	if (!e || t->wrong || PyErr_Occurred())
		return;
	if (++t->depth > DEPTH_MAX)
		wrong(t, "it is nested more than 200 levels deep, to which "
			 "each operator of a chain such as a + b + c adds one, "
			 "and SUM(a, b, c) one in all");
	else
		walk_kind(t, e);
	t->depth--;
}

/* ---- to code ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Without what spreadsheets begin a formula with. */
static size_t bare(const struct formula_words *w, const char **ret)
{
	const char *p = table.base + w->text, *end = p + w->text_len;

	while (p < end && is_blank(*p))
		p++;
	if (p < end && *p == '=' && (p + 1 == end || p[1] != '='))
		p++;
	while (p < end && is_blank(*p))
		p++;
	while (p < end && is_blank(end[-1]))
		end--;
	*ret = p;
	return (size_t)(end - p);
}

/* In brackets if it has several lines.  NULL with what is wrong, or an
 * exception. */
static PyObject *take_text(struct tree *t)
{
	const char *p;
	size_t n = bare(&t->f->words, &p);
	bool lines = memchr(p, '\n', n);
	PyObject *text;
	char *to;

	if (!n || memchr(p, 0, n)) {
		wrong(t, n ? "it has a NUL byte" : "it is empty");
		return NULL;
	}
	text = PyBytes_FromStringAndSize(NULL,
					 (Py_ssize_t)(n + (lines ? 3 : 0)));
	if (!text)
		return NULL;
	to = PyBytes_AS_STRING(text);
	memcpy(to + lines, p, n);
	if (lines) {
		*to = '(';
		memcpy(to + 1 + n, "\n)", 2);
	}
	return text;
}

/* Something is missing there, and the parser has gone on to what is behind. */
static void place_end(const struct formula_words *w, uint32_t *line,
		      uint32_t *column)
{
	const char *p = table.base + w->text;

	*line = *column = 1;
	for (uint32_t i = 0; i < w->text_len; i++) {
		if (p[i] == '\n') {
			++*line;
			*column = 1;
		} else if ((p[i] & 0xc0) != 0x80) {
			++*column;
		}
	}
}

void tree_place(uint32_t i, uint32_t *line, uint32_t *column)
{
	const struct formula_words *w = &table.formulas[i].words;
	const char *from = table.base + w->text, *p;
	size_t n = bare(w, &p);
	uint32_t above = 0, before = 0;

	if (!*line)
		return;
	if (!*column) {
		place_end(w, line, column);
		return;
	}
	for (; from < p; from++) {
		before = *from == '\n' ? 0 : before + 1;
		above += *from == '\n';
	}
	/* The bracket that take_text puts there. */
	if (*line == 1 && memchr(p, '\n', n) && *column > 1)
		--*column;
	if (*line == 1)
		*column += before;
	*line += above;
}

static mod_ty function_of(struct tree *t, expr_ty body)
{
	uint32_t n = t->f->n_params;
	asdl_arg_seq *list = _Py_asdl_arg_seq_new(n, t->arena);
	arguments_ty args;
	expr_ty lambda;

	if (n && !list)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		arg_ty a = _PyAST_arg(t->f->params[i].name, NULL, NULL, 1, 0, 1,
				      0, t->arena);

		if (!a)
			return NULL;
		asdl_seq_SET(list, i, a);
	}
	args = _PyAST_arguments(list, NULL, NULL, NULL, NULL, NULL, NULL,
				t->arena);
	lambda = args ? _PyAST_Lambda(args, body, 1, 0, 1, 0, t->arena) : NULL;
	return lambda ? _PyAST_Expression(lambda, t->arena) : NULL;
}

static PyObject *compile(struct tree *t, PyObject *text)
{
	PyCompilerFlags flags = _PyCompilerFlags_INIT;
	PyObject *name = formula_hook("FORMULA"), *code, *fn;
	mod_ty m;

	flags.cf_flags = PyCF_SOURCE_IS_UTF8 | PyCF_IGNORE_COOKIE;
	m = _PyParser_ASTFromString(PyBytes_AS_STRING(text), name,
				    Py_eval_input, &flags, t->arena);
	if (!m)
		return NULL;
	walk(t, m->v.Expression.body);
	if (t->wrong || PyErr_Occurred())
		return NULL;
	m = function_of(t, m->v.Expression.body);
	code = m ? (PyObject *)_PyAST_Compile(m, name, &flags, -1, t->arena)
		 : NULL;
	if (!code)
		return NULL;
	fn = PyEval_EvalCode(code, formula_hook("GLOBALS"), NULL);
	Py_DECREF(code);
	return fn;
}

PyObject *tree_compile(uint32_t i, const char **ret_why)
{
	struct tree t = { .f = &table.formulas[i],
			  .index = i,
			  .arena = _PyArena_New() };
	PyObject *text = take_text(&t), *fn = NULL;

	if (t.arena && text)
		fn = compile(&t, text);
	*ret_why = t.wrong;
	Py_XDECREF(text);
	if (t.arena)
		_PyArena_Free(t.arena);
	return fn;
}

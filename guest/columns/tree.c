#include "columns/tree.h"

#include <string.h>
#include "columns/lex.h"

#define DEPTH_MAX 64
#define ARGS_MAX 16

struct reader {
	struct lexer x;
	const struct columns_scope *scope;
	struct tree *t;
	int depth;
};

/* ---- nodes; 0: there is none, and then none above it ---- */

static uint16_t add(struct reader *r, const struct node *n)
{
	if (r->t->n_nodes == TREE_NODES_MAX)
		return 0;
	r->t->nodes[r->t->n_nodes] = *n;
	return r->t->n_nodes++;
}

static uint16_t one(struct reader *r, enum node_kind kind, uint16_t a)
{
	return a ? add(r, &(struct node){.kind = (uint8_t)kind, .a = a}) : 0;
}

static uint16_t two(struct reader *r, enum node_kind kind, uint16_t a,
		    uint16_t b)
{
	struct node n = {.kind = (uint8_t)kind, .a = a, .b = b};

	return a && b ? add(r, &n) : 0;
}

static uint16_t choose(struct reader *r, uint16_t c, uint16_t a, uint16_t b)
{
	struct node n = {.kind = NODE_CHOOSE, .a = c, .b = a, .c = b};

	return c && a && b ? add(r, &n) : 0;
}

static uint16_t truth(struct reader *r, bool v)
{
	return add(r, &(struct node){.kind = NODE_TRUTH, .is.truth = v});
}

static uint16_t column(struct reader *r, uint32_t which)
{
	struct tree *t = r->t;
	struct node n = {.kind = NODE_COLUMN};

	while (n.a < t->n_columns && t->columns[n.a] != which)
		n.a++;
	if (n.a == COLUMNS_CELLS_MAX)
		return 0;
	if (n.a == t->n_columns)
		t->columns[t->n_columns++] = which;
	for (uint16_t i = 1; i < t->n_nodes; i++)
		if (t->nodes[i].kind == NODE_COLUMN && t->nodes[i].a == n.a)
			return i;
	return add(r, &n);
}

/* ---- calls ---- */

static uint16_t expression(struct reader *r);

struct call {
	uint16_t args[ARGS_MAX];
	size_t n;
};

static uint16_t call_if(struct reader *r, const struct call *k)
{
	if (k->n < 2 || k->n > 3)
		return 0;
	return choose(r, one(r, NODE_CHECKED, k->args[0]), k->args[1],
		      k->n == 3 ? k->args[2] : truth(r, false));
}

static uint16_t call_ifs(struct reader *r, const struct call *k)
{
	uint16_t rest = add(r, &(struct node){.kind = NODE_FAIL});

	if (!k->n || k->n % 2)
		return 0;
	for (size_t i = k->n; i > 0; i -= 2)
		rest = choose(r, one(r, NODE_CHECKED, k->args[i - 2]),
			      k->args[i - 1], rest);
	return rest;
}

static uint16_t is_true(struct reader *r, uint16_t a)
{
	return one(r, NODE_IS_TRUE, one(r, NODE_CHECKED, a));
}

static uint16_t all_of(struct reader *r, enum node_kind kind,
		       const struct call *k)
{
	uint16_t all = k->n ? is_true(r, k->args[0]) : 0;

	for (size_t i = 1; i < k->n; i++)
		all = two(r, kind, all, is_true(r, k->args[i]));
	return all;
}

static uint16_t call_and(struct reader *r, const struct call *k)
{
	return all_of(r, NODE_AND, k);
}

static uint16_t call_or(struct reader *r, const struct call *k)
{
	return all_of(r, NODE_OR, k);
}

static uint16_t call_not(struct reader *r, const struct call *k)
{
	return k->n == 1 ? one(r, NODE_NOT, one(r, NODE_CHECKED, k->args[0]))
			 : 0;
}

static uint16_t call_abs(struct reader *r, const struct call *k)
{
	return k->n == 1 ? one(r, NODE_ABS, one(r, NODE_CHECKED, k->args[0]))
			 : 0;
}

/* What is an error is left undone, and so what stands for one is not needed. */
static uint16_t call_iferror(struct reader *r, const struct call *k)
{
	return k->n == 1 || k->n == 2 ? one(r, NODE_CHECKED, k->args[0]) : 0;
}

static const struct {
	const char *name;
	uint16_t (*make)(struct reader *r, const struct call *k);
} calls[] = {
	{"IF", call_if},   {"IFS", call_ifs}, {"AND", call_and},
	{"OR", call_or},   {"NOT", call_not}, {"IFERROR", call_iferror},
	{"ABS", call_abs},
};

static bool take_args(struct reader *r, struct call *k)
{
	do {
		if (k->n == ARGS_MAX)
			return false;
		k->args[k->n] = expression(r);
		if (!k->args[k->n++])
			return false;
	} while (lex_take(&r->x, ','));
	return lex_take(&r->x, ')');
}

/* Behind the parenthesis. */
static uint16_t call(struct reader *r, const char *name, size_t n)
{
	struct call k = {0};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == n &&
		    !memcmp(calls[i].name, name, n))
			return take_args(r, &k) ? calls[i].make(r, &k) : 0;
	return 0;
}

/* ---- names ---- */

/* Behind row or col: .NAME or ["NAME"], without blanks. */
static uint16_t member(struct reader *r)
{
	struct lexer *x = &r->x;
	const char *p, *end;
	uint32_t which;
	size_t n;
	char q;

	if (x->len - x->at < 4)
		return 0;
	p = x->p + x->at;
	q = p[1];
	if (*p == '.') {
		x->at++;
		n = lex_name(x);
		p++;
		x->at += n;
	} else if (*p == '[' && (q == '"' || q == '\'')) {
		p += 2;
		end = memchr(p, q, x->len - x->at - 2);
		n = end ? (size_t)(end - p) : 0;
		if (!end || end + 1 == x->p + x->len || end[1] != ']' ||
		    memchr(p, '\\', n) || memchr(p, '\n', n))
			return 0;
		x->at += n + 4;
	} else {
		return 0;
	}
	if (!n || r->scope->find(r->scope->data, p, n, true, &which) !=
			  COLUMNS_COLUMN)
		return 0;
	return column(r, which);
}

static bool is(const char *word, const char *p, size_t n)
{
	return strlen(word) == n && !memcmp(word, p, n);
}

/* What the language calls its constants: no column can hide these. */
static uint16_t constant(struct reader *r, const char *p, size_t n)
{
	bool js = r->x.language == COLUMNS_JS;

	if (is(js ? "true" : "True", p, n))
		return truth(r, true);
	if (is(js ? "false" : "False", p, n))
		return truth(r, false);
	if (is(js ? "null" : "None", p, n))
		return add(r, &(struct node){.kind = NODE_BLANK});
	return 0;
}

/* In Python these three are names as others. */
static uint16_t spare_constant(struct reader *r, const char *p, size_t n)
{
	if (r->x.language != COLUMNS_PY)
		return 0;
	if (is("true", p, n) || is("false", p, n))
		return truth(r, *p == 't');
	return is("null", p, n) ? add(r, &(struct node){.kind = NODE_BLANK})
				: 0;
}

static uint16_t name(struct reader *r, size_t n)
{
	const char *p = r->x.p + r->x.at;
	uint16_t node = constant(r, p, n);
	uint32_t which;

	r->x.at += n;
	if (node)
		return node;
	if (is("row", p, n) || is("col", p, n))
		return member(r);
	if (lex_take(&r->x, '('))
		return call(r, p, n);
	switch (r->scope->find(r->scope->data, p, n, false, &which)) {
	case COLUMNS_COLUMN:
		return column(r, which);
	case COLUMNS_INDEX:
		return add(r, &(struct node){.kind = NODE_INDEX});
	default:
		return spare_constant(r, p, n);
	}
}

/* ---- expressions ---- */

static uint16_t operand(struct reader *r)
{
	struct node n = {0};
	uint16_t inside;
	size_t len;

	lex_blanks(&r->x);
	if (lex_take(&r->x, '(')) {
		inside = expression(r);
		return lex_take(&r->x, ')') ? inside : 0;
	}
	len = lex_name(&r->x);
	if (len)
		return name(r, len);
	return lex_number(&r->x, &n) ? add(r, &n) : 0;
}

static uint16_t unary(struct reader *r)
{
	const struct lex_operator *o = lex_operator(&r->x);
	enum node_kind kind = NODE_NONE;
	uint16_t a;

	if (o && (o->kind == NODE_ADD || o->kind == NODE_SUBTRACT))
		kind = o->kind == NODE_ADD ? NODE_PLUS : NODE_NEGATE;
	else if (!o && r->x.language == COLUMNS_JS && r->x.at < r->x.len &&
		 r->x.p[r->x.at] == '!')
		kind = NODE_NOT;
	if (kind == NODE_NONE)
		return operand(r);
	if (++r->depth > DEPTH_MAX)
		return 0;
	r->x.at++;
	a = one(r, kind, unary(r));
	r->depth--;
	return a;
}

/* The operator of that level which stands here. */
static enum node_kind between(struct reader *r, int level)
{
	const struct lex_operator *o;

	if (r->x.language == COLUMNS_PY && level == LEVEL_OR)
		return lex_word(&r->x, "or") ? NODE_OR : NODE_NONE;
	if (r->x.language == COLUMNS_PY && level == LEVEL_AND)
		return lex_word(&r->x, "and") ? NODE_AND : NODE_NONE;
	o = lex_operator(&r->x);
	if (!o || o->level == LEVEL_NONE)
		return NODE_NONE;
	if (o->level != level && (r->x.language != COLUMNS_PY ||
				  level != LEVEL_COMPARE ||
				  o->level != LEVEL_ORDER))
		return NODE_NONE;
	r->x.at += strlen(o->text);
	return o->kind;
}

static uint16_t binary(struct reader *r, int level)
{
	enum node_kind kind;
	uint16_t a;

	if (level > LEVEL_PRODUCT)
		return unary(r);
	a = binary(r, level + 1);
	while (a && (kind = between(r, level)) != NODE_NONE)
		a = two(r, kind, a, binary(r, level + 1));
	return a;
}

/* a < b < c: a < b and b < c, and b is one node. */
static uint16_t chain(struct reader *r)
{
	uint16_t a = binary(r, LEVEL_SUM), b, all = 0, next;
	enum node_kind kind;

	while (a && (kind = between(r, LEVEL_COMPARE)) != NODE_NONE) {
		b = binary(r, LEVEL_SUM);
		next = two(r, kind, a, b);
		all = all ? two(r, NODE_AND, all, next) : next;
		a = all ? b : 0;
	}
	return a && all ? all : a;
}

static uint16_t negation(struct reader *r)
{
	uint16_t a;

	if (!lex_word(&r->x, "not"))
		return chain(r);
	if (++r->depth > DEPTH_MAX)
		return 0;
	a = one(r, NODE_NOT, negation(r));
	r->depth--;
	return a;
}

static uint16_t words(struct reader *r, int level)
{
	enum node_kind kind;
	uint16_t a;

	if (level > LEVEL_AND)
		return negation(r);
	a = words(r, level + 1);
	while (a && (kind = between(r, level)) != NODE_NONE)
		a = two(r, kind, a, words(r, level + 1));
	return a;
}

static uint16_t expression_py(struct reader *r)
{
	uint16_t a = words(r, LEVEL_OR), c;

	if (!a || !lex_word(&r->x, "if"))
		return a;
	c = words(r, LEVEL_OR);
	return c && lex_word(&r->x, "else") ? choose(r, c, a, expression(r))
					    : 0;
}

static uint16_t expression_js(struct reader *r)
{
	uint16_t c = binary(r, LEVEL_OR), a;

	if (!c || lex_operator(&r->x) || !lex_take(&r->x, '?'))
		return c;
	a = expression(r);
	return a && lex_take(&r->x, ':') ? choose(r, c, a, expression(r)) : 0;
}

static uint16_t expression(struct reader *r)
{
	uint16_t a;

	if (++r->depth > DEPTH_MAX)
		return 0;
	a = r->x.language == COLUMNS_PY ? expression_py(r) : expression_js(r);
	r->depth--;
	return a;
}

static bool is_plain(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] >= 0x7f || !p[i])
			return false;
	return true;
}

bool tree_read(const struct tree_text *text, struct tree *ret)
{
	struct reader r = {.x = {text->p, 0, text->len, text->language},
			   .scope = text->scope,
			   .t = ret};

	ret->n_nodes = 1;
	ret->n_columns = 0;
	ret->nodes[0] = (struct node){0};
	if (text->len > TREE_TEXT_MAX || !is_plain(text->p, text->len))
		return false;
	/* Spreadsheets begin a formula so. */
	if (lex_take(&r.x, '=') && r.x.at < r.x.len && r.x.p[r.x.at] == '=')
		return false;
	ret->root = expression(&r);
	lex_blanks(&r.x);
	return ret->root && r.x.at == r.x.len;
}

#include "policy/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "policy/tree_build.h"

#define WHERE "policy"

static int refuse_at(struct tree_mark at, struct redoma_error *err,
		     const char *fmt, va_list ap)
{
	char text[sizeof err->text];

	vsnprintf(text, sizeof text, fmt, ap);
	if (at.line)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "line %d column %d: %s", at.line, at.column,
			       text);
	return err_set(err, REDOMA_E_INVALID, WHERE, "%s", text);
}

int tree_refuse(const struct tree *at, struct redoma_error *err,
		const char *fmt, ...)
{
	va_list ap;
	int e;

	va_start(ap, fmt);
	e = refuse_at((struct tree_mark){at->line, at->column}, err, fmt, ap);
	va_end(ap);
	return e;
}

int tree_refuse_key(const struct tree *at, struct redoma_error *err,
		    const char *fmt, ...)
{
	va_list ap;
	int e;

	va_start(ap, fmt);
	e = refuse_at((struct tree_mark){at->key_line, at->key_column}, err,
		      fmt, ap);
	va_end(ap);
	return e;
}

static int refuse_mark(struct tree_mark at, struct redoma_error *err,
		       const char *what)
{
	return tree_refuse(&(struct tree){.line = at.line, .column = at.column},
			   err, "%s", what);
}

/* One allocation holds the node, its key and its text. */
static struct tree *node_new(const struct tree_builder *b, struct str text)
{
	size_t key_len = b->has_key ? b->key.len : 0;
	struct tree *t = calloc(1, sizeof *t + key_len + 1 + text.len + 1);
	char *p;

	if (!t)
		return NULL;
	p = (char *)(t + 1);
	if (key_len)
		memcpy(p, b->key.data, key_len);
	t->key = (struct str){p, key_len};
	p += key_len + 1;
	if (text.len)
		memcpy(p, text.p, text.len);
	t->text = (struct str){p, text.len};
	if (b->has_key) {
		t->key_line = b->key_line;
		t->key_column = b->key_column;
	}
	return t;
}

static void link_node(struct tree_builder *b, struct tree *t)
{
	struct tree *parent = b->depth ? b->open[b->depth - 1] : NULL;

	if (b->made)
		b->made->made_ = t;
	else
		b->root = t;
	b->made = t;
	b->nodes++;
	b->has_key = false;
	if (!parent)
		return;
	if (parent->last_)
		parent->last_->next = t;
	else
		parent->first = t;
	parent->last_ = t;
	parent->count++;
}

static int add(struct tree_builder *b, const struct tree *like,
	       struct redoma_error *err)
{
	struct tree *t;

	if (b->nodes == TREE_NODES_MAX)
		return refuse_mark((struct tree_mark){like->line, like->column},
				   err, "the policy has more than 65536 "
				   "entries; make it smaller");
	t = node_new(b, like->text);
	if (!t)
		return err_nomem(err, WHERE);
	t->kind = like->kind;
	t->quoted = like->quoted;
	t->line = like->line;
	t->column = like->column;
	link_node(b, t);
	return 0;
}

bool tree_wants_key(const struct tree_builder *b)
{
	return b->depth && b->open[b->depth - 1]->kind == TREE_MAP &&
	       !b->has_key;
}

int tree_add_key(struct tree_builder *b, struct str key, struct tree_mark at,
		 struct redoma_error *err)
{
	const struct tree *map = b->open[b->depth - 1];

	if (map->count == TREE_KEYS_MAX)
		return refuse_mark(at, err, "a map has more than 4096 keys; "
				   "make it smaller");
	if (key.len > TREE_KEY_MAX)
		return refuse_mark(at, err, "a key longer than 128 bytes; no "
				   "policy needs that");
	for (const struct tree *t = map->first; t; t = t->next) {
		if (str_equal(t->key, key))
			return tree_refuse(
				&(struct tree){.line = at.line,
					       .column = at.column},
				err, "the key %s is there already, in line %d; "
				"keep one of them", SHOW(key), t->key_line);
	}
	buf_clear(&b->key);
	if (buf_add(&b->key, key.p, key.len))
		return err_nomem(err, WHERE);
	b->key_line = at.line;
	b->key_column = at.column;
	b->has_key = true;
	return 0;
}

int tree_add_scalar(struct tree_builder *b, struct str text, bool quoted,
		    struct tree_mark at, struct redoma_error *err)
{
	return add(b, &(struct tree){.kind = TREE_SCALAR,
				     .text = text,
				     .quoted = quoted,
				     .line = at.line,
				     .column = at.column}, err);
}

int tree_open(struct tree_builder *b, enum tree_kind kind, struct tree_mark at,
	      struct redoma_error *err)
{
	int e;

	if (b->depth == TREE_DEPTH_MAX)
		return refuse_mark(at, err, "nested deeper than 32 levels; no "
				   "policy needs that");
	e = add(b, &(struct tree){.kind = kind,
				  .line = at.line,
				  .column = at.column}, err);
	if (!e)
		b->open[b->depth++] = b->made;
	return e;
}

void tree_close(struct tree_builder *b)
{
	b->depth--;
}

void tree_free(struct tree *root)
{
	struct tree *next;

	for (; root; root = next) {
		next = root->made_;
		free(root);
	}
}

const struct tree *tree_get(const struct tree *map, const char *key)
{
	if (!map || map->kind != TREE_MAP)
		return NULL;
	for (const struct tree *t = map->first; t; t = t->next) {
		if (str_equal(t->key, str_of(key)))
			return t;
	}
	return NULL;
}

bool tree_is_null(const struct tree *t)
{
	return t->kind == TREE_SCALAR && !t->quoted &&
	       (!t->text.len || str_equal(t->text, STR("~")) ||
		str_equal(t->text, STR("null")));
}

/* Also keeps NULs from the YAML reader, to which one is the end of the text. */
static int check_bytes(const char *text, size_t len, struct redoma_error *err)
{
	struct tree_mark at;
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		bool blank = text[i] == '\n' || text[i] == '\r' ||
			     text[i] == '\t';

		n = str_utf8(text + i, len - i);
		if (n && (blank || str_is_plain((struct str){text + i, n})))
			continue;
		json_position(text, i, &at.line, &at.column);
		return refuse_mark(at, err,
				   n ? "a control character; write it as an "
				       "escape in double quotes, or remove it"
				     : "bytes that are not UTF-8; save the "
				       "policy as UTF-8");
	}
	return 0;
}

static bool looks_like_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]))
		i++;
	return i < len && text[i] == '{';
}

static void builder_done(struct tree_builder *b)
{
	tree_free(b->root);
	buf_done(&b->key);
}

int tree_parse(const char *text, size_t len, struct tree **ret,
	       struct redoma_error *err)
{
	CLEANUP(builder_done) struct tree_builder b = {0};
	int e;

	if (len > TREE_TEXT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the policy has %zu bytes; at most 1 MiB is "
			       "read", len);
	e = check_bytes(text, len, err);
	if (!e && looks_like_json(text, len))
		e = tree_read_json(&b, text, len, err);
	else if (!e)
		e = tree_read_yaml(&b, text, len, err);
	if (e)
		return e;
	*ret = TAKE_PTR(b.root);
	return 0;
}

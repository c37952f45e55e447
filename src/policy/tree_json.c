#include "base/cleanup.h"
#include "base/json.h"
#include "policy/tree_build.h"

struct source {
	struct tree_builder *b;
	const struct json_doc *doc;
	const char *text;
	size_t offset; /* where `at` is; values come in reading order */
	struct tree_mark at;
};

static struct tree_mark mark(struct source *s, const struct json_value *v,
			     struct tree_mark otherwise)
{
	size_t offset;

	if (!json_offset(s->doc, v, &offset))
		return otherwise;
	for (; s->offset < offset; s->offset++) {
		s->at.column++;
		if (s->text[s->offset] == '\n')
			s->at = (struct tree_mark){s->at.line + 1, 1};
	}
	return s->at;
}

static int add_leaf(struct source *s, const struct json_value *v,
		    struct tree_mark at, struct redoma_error *err)
{
	struct str text = STR("null");
	bool quoted = json_kind(v) == JSON_STRING;

	if (quoted)
		text.p = json_string(v, &text.len);
	else if (json_kind(v) == JSON_NUMBER)
		text.p = json_digits(v, &text.len);
	else if (json_kind(v) == JSON_BOOL)
		text = json_is_true(v) ? STR("true") : STR("false");
	return tree_add_scalar(s->b, text, quoted, mark(s, v, at), err);
}

/* As deep as tree_open lets it go. */
static int add_value(struct source *s, const struct json_value *v,
		     struct tree_mark at, struct redoma_error *err)
{
	bool map = json_kind(v) == JSON_OBJECT;
	struct json_iter it;
	struct str key;
	int e;

	if (!map && json_kind(v) != JSON_ARRAY)
		return add_leaf(s, v, at, err);
	e = tree_open(s->b, map ? TREE_MAP : TREE_LIST, at, err);
	if (e)
		return e;
	it = json_iter(v);
	while (!e && json_next(&it)) {
		struct tree_mark here = at;

		if (map) {
			here = mark(s, it.key, at);
			key.p = json_string(it.key, &key.len);
			e = tree_add_key(s->b, key, here, err);
		}
		if (!e)
			e = add_value(s, it.value, here, err);
	}
	tree_close(s->b);
	return e;
}

int tree_read_json(struct tree_builder *b, const char *text, size_t len,
		   struct redoma_error *err)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	struct source s = {.b = b, .text = text, .at = {1, 1}};
	struct redoma_error inner = {0};
	int e = json_parse(text, len, &doc, &inner);

	if (e)
		return err_set(err, e, "policy", "%s (a policy that begins "
			       "with { is read as JSON)", inner.text);
	s.doc = doc;
	return add_value(&s, json_root(doc), (struct tree_mark){1, 1}, err);
}

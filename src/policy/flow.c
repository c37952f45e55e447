#include "policy/flow.h"

#include "base/json.h"

/* Letters, digits and what is in names and numbers; nothing that begins a
 * YAML construct, and nothing with a colon. */
static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool other = (c >= '0' && c <= '9') || c == '_' ||
			     (i && (c == '-' || c == '.' || c == '+'));

		if (!letter && !other)
			return false;
	}
	return s.len > 0 && s.len <= 128;
}

/* Words that are not text when they are plain. */
static bool is_typed(struct str s)
{
	return str_equal(s, STR("null")) || str_equal(s, STR("true")) ||
	       str_equal(s, STR("false")) ||
	       (s.p[0] >= '0' && s.p[0] <= '9') || s.p[0] == '-';
}

int flow_print_text(struct str s, struct buf *out)
{
	if (is_word(s) && !is_typed(s))
		return buf_add(out, s.p, s.len);
	return json_put_string(out, s.p, s.len);
}

static int print_scalar(const struct tree *t, struct buf *out)
{
	if (tree_is_null(t))
		return buf_add(out, "null", 4);
	if (!t->quoted && (is_word(t->text) ||
			   (t->text.p[0] == '-' &&
			    is_word(str_after(t->text, 1)))))
		return buf_add(out, t->text.p, t->text.len);
	return flow_print_text(t->text, out);
}

/* As deep as a tree can be. */
int flow_print(const struct tree *t, struct buf *out)
{
	bool map = t->kind == TREE_MAP;
	const char *comma = "";

	if (t->kind == TREE_SCALAR)
		return print_scalar(t, out);
	if (buf_add(out, map ? "{" : "[", 1))
		return -1;
	for (const struct tree *v = t->first; v; v = v->next) {
		if (buf_add(out, comma, strlen(comma)))
			return -1;
		if (map && (flow_print_text(v->key, out) ||
			    buf_add(out, ": ", 2)))
			return -1;
		if (flow_print(v, out))
			return -1;
		comma = ", ";
	}
	return buf_add(out, map ? "}" : "]", 1);
}

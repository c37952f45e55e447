#include "policy/tools.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/units.h"
#include "policy/flow.h"
#include "policy/read.h"

#define WHERE "policy"

static void tool_done(struct tool_grant *t)
{
	free(t->name);
	where_free(t->where);
	*t = (struct tool_grant){0};
}

void tools_done(struct policy *p)
{
	for (size_t i = 0; i < p->n_tools; i++)
		tool_done(&p->tools[i]);
	free(p->tools);
	p->tools = NULL;
	p->n_tools = 0;
}

const struct tool_grant *tools_find(const struct policy *p, struct str name)
{
	for (size_t i = 0; i < p->n_tools; i++)
		if (str_equal(str_of(p->tools[i].name), name))
			return &p->tools[i];
	return NULL;
}

static int read_name(void *into, const struct tree *v, struct redoma_error *err)
{
	struct tool_grant *t = into;
	struct str s;
	int e = read_scalar(v, "tools.name", &s, err);

	if (e)
		return e;
	if (!s.len || s.len > TOOL_NAME_MAX || !str_is_plain(s) ||
	    memchr(s.p, ' ', s.len) || memchr(s.p, '=', s.len))
		return tree_refuse(v, err, "tools: %s is not a tool's name; "
				   "write one word", SHOW(s));
	return read_copy(s, &t->name, err);
}

static int read_max_calls(void *into, const struct tree *v,
			  struct redoma_error *err)
{
	struct tool_grant *t = into;

	return read_units(v, "tools.max_calls", units_count, &t->max_calls,
			  err);
}

static int read_where(void *into, const struct tree *map,
		      struct redoma_error *err)
{
	struct tool_grant *t = into;

	return where_read(map, &t->where, err);
}

/* Takes what t holds. */
static int append(struct policy *p, struct tool_grant *t,
		  const struct tree *at, struct redoma_error *err)
{
	struct tool_grant *grown;

	if (tools_find(p, str_of(t->name)))
		return tree_refuse(at, err, "tools: %s is granted twice; which "
				   "terms are meant cannot be told",
				   SHOW(str_of(t->name)));
	if (p->n_tools == TOOLS_MAX)
		return tree_refuse(at, err, "more than %d tools", TOOLS_MAX);
	grown = realloc(p->tools, (p->n_tools + 1) * sizeof *grown);
	if (!grown)
		return err_nomem(err, WHERE);
	p->tools = grown;
	grown[p->n_tools++] = *t;
	*t = (struct tool_grant){0};
	return 0;
}

static int read_tool(void *into, const struct tree *v, struct redoma_error *err)
{
	static const struct field fields[] = {
		{"name", read_name}, {"max_calls", read_max_calls},
		{"where", read_where}, {NULL, NULL},
	};
	CLEANUP(tool_done) struct tool_grant t = {.max_calls = POLICY_UNSET,
						  .line = v->line};
	int e = v->kind == TREE_SCALAR
			? read_name(&t, v, err)
			: read_map(v, "a tools entry", fields, &t, err);

	if (!e && !t.name)
		return tree_refuse(v, err, "tools: an entry without \"name:\"; "
				   "write the tool's name");
	return e ? e : append(into, &t, v, err);
}

int tools_read(void *policy, const struct tree *v, struct redoma_error *err)
{
	return read_list(v, "tools", read_tool, policy, err);
}

int tools_option(struct policy *p, struct str value, struct redoma_error *err)
{
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true, .text = value};

	if (memchr(value.p, '=', value.len))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "tool %s: a policy grants a name; its command "
			       "is for `redoma run`, which answers by it",
			       SHOW(value));
	return tools_find(p, value) ? 0 : read_tool(p, &leaf, err);
}

/* The name in quotes: it may be a guest's. */
int tools_print_allow(struct str name, uint64_t max_calls,
		      const struct where *where, struct buf *out)
{
	bool plain = max_calls == POLICY_UNSET && where_is_empty(where);

	if (buf_addf(out, plain ? "tools: [" : "tools: [{name: ") ||
	    json_put_string(out, name.p, name.len))
		return -1;
	if (max_calls != POLICY_UNSET &&
	    buf_addf(out, ", max_calls: %" PRIu64, max_calls))
		return -1;
	if (!where_is_empty(where) &&
	    buf_addf(out, ", where: %s", where_text(where)))
		return -1;
	return buf_addf(out, plain ? "]" : "}]");
}

static int print_tool(const struct tool_grant *t, struct buf *out)
{
	if (t->max_calls == POLICY_UNSET && !t->where)
		return flow_print_text(str_of(t->name), out);
	if (buf_addf(out, "{name: ") ||
	    flow_print_text(str_of(t->name), out) ||
	    (t->max_calls != POLICY_UNSET &&
	     buf_addf(out, ", max_calls: %" PRIu64, t->max_calls)) ||
	    (t->where && (buf_addf(out, ", where: ") ||
			  buf_add(out, where_text(t->where),
				  strlen(where_text(t->where))))))
		return -1;
	return buf_add(out, "}", 1);
}

int tools_print(const struct policy *p, struct buf *out)
{
	if (buf_addf(out, "tools: ["))
		return -1;
	for (size_t i = 0; i < p->n_tools; i++)
		if ((i && buf_add(out, ", ", 2)) ||
		    print_tool(&p->tools[i], out))
			return -1;
	return buf_add(out, "]\n", 2);
}

int tools_copy(const struct policy *p, struct policy *to,
	       struct redoma_error *err)
{
	if (!p->n_tools)
		return 0;
	to->tools = calloc(p->n_tools, sizeof *to->tools);
	if (!to->tools)
		return err_nomem(err, WHERE);
	for (; to->n_tools < p->n_tools; to->n_tools++) {
		const struct tool_grant *from = &p->tools[to->n_tools];
		struct tool_grant *t = &to->tools[to->n_tools];
		int e = read_copy(str_of(from->name), &t->name, err);

		if (e)
			return e;
		t->max_calls = from->max_calls;
		t->line = from->line;
		t->where = where_share(from->where);
	}
	return 0;
}

int tools_contain(const struct policy *outer, const struct policy *inner,
		  struct redoma_error *err)
{
	for (size_t i = 0; i < inner->n_tools; i++) {
		const struct tool_grant *in = &inner->tools[i];
		struct str name = str_of(in->name);
		const struct tool_grant *out = tools_find(outer, name);
		const char *key = NULL;

		if (!out)
			return err_set(err, REDOMA_E_DENIED, WHERE,
				       "tools %s: the policy does not grant "
				       "it, and what is asked for beside a "
				       "policy can only narrow it; add it to "
				       "the policy's `tools`, or leave it out",
				       SHOW(name));
		if (in->max_calls > out->max_calls)
			key = "max_calls";
		else if (!where_within(out->where, in->where))
			key = "where";
		if (key)
			return err_set(err, REDOMA_E_DENIED, WHERE,
				       "tools %s: %s is wider than the "
				       "policy's; ask for no more than that",
				       SHOW(name), key);
	}
	return 0;
}

/* IF, IFS, SWITCH, AND, OR, IFERROR and IFNA as expressions that evaluate no
 * more than they need. */
#include <string.h>
#include "forms.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void put_arg(struct rewriter *w, struct out *o, const struct args *a,
		    size_t i)
{
	bool empty = true;

	for (size_t k = 0; k < a->list[i].len && empty; k++)
		empty = is_blank(a->list[i].p[k]);
	rewrite_say(w, o, "(");
	if (empty)
		rewrite_say(w, o, "null");
	else
		rewrite_put(w, o, a->list[i].p, a->list[i].len);
	rewrite_say(w, o, ")");
}

/* A condition: true as it is, all else by the helper. */
static void put_test(struct rewriter *w, struct out *o, const struct args *a,
		     size_t i, const char *helper)
{
	rewrite_say(w, o, "(($t=");
	put_arg(w, o, a, i);
	rewrite_say(w, o, ")===true||$t!==false&&");
	rewrite_say(w, o, helper);
	rewrite_say(w, o, "($t))");
}

static const char *form_if(struct rewriter *w, struct out *o, struct args *a)
{
	if (a->n < 2 || a->n > 3)
		return "IF takes a condition and one or two values";
	rewrite_say(w, o, "(");
	put_test(w, o, a, 0, "$T");
	rewrite_say(w, o, "?");
	put_arg(w, o, a, 1);
	rewrite_say(w, o, ":");
	if (a->n == 3)
		put_arg(w, o, a, 2);
	else
		rewrite_say(w, o, "false");
	rewrite_say(w, o, ")");
	return NULL;
}

static const char *form_ifs(struct rewriter *w, struct out *o, struct args *a)
{
	if (!a->n || a->n % 2)
		return "IFS takes pairs: a condition and a value";
	rewrite_say(w, o, "(");
	for (size_t i = 0; i < a->n; i += 2) {
		put_test(w, o, a, i, "$T");
		rewrite_say(w, o, "?");
		put_arg(w, o, a, i + 1);
		rewrite_say(w, o, ":");
	}
	rewrite_say(w, o, "$N())");
	return NULL;
}

static const char *form_switch(struct rewriter *w, struct out *o,
			       struct args *a)
{
	size_t i;

	if (a->n < 3)
		return "SWITCH takes a value, then pairs of a case and a value";
	rewrite_say(w, o, "(($s)=>");
	for (i = 1; i + 1 < a->n; i += 2) {
		rewrite_say(w, o, "$Q($s,");
		put_arg(w, o, a, i);
		rewrite_say(w, o, ")?");
		put_arg(w, o, a, i + 1);
		rewrite_say(w, o, ":");
	}
	if (i < a->n)
		put_arg(w, o, a, i);
	else
		rewrite_say(w, o, "$N()");
	rewrite_say(w, o, ")(");
	put_arg(w, o, a, 0);
	rewrite_say(w, o, ")");
	return NULL;
}

static const char *form_all(struct rewriter *w, struct out *o, struct args *a,
			    const char *between, const char *helper)
{
	if (!a->n)
		return "AND and OR take at least one condition";
	rewrite_say(w, o, "(");
	for (size_t i = 0; i < a->n; i++) {
		if (i)
			rewrite_say(w, o, between);
		put_test(w, o, a, i, helper);
	}
	rewrite_say(w, o, ")");
	return NULL;
}

static const char *form_and(struct rewriter *w, struct out *o, struct args *a)
{
	return form_all(w, o, a, "&&", "$A");
}

static const char *form_or(struct rewriter *w, struct out *o, struct args *a)
{
	return form_all(w, o, a, "||", "$O");
}

static const char *form_catch(struct rewriter *w, struct out *o, struct args *a,
			      const char *helper)
{
	if (a->n < 1 || a->n > 2)
		return "IFERROR and IFNA take a value and what stands for an "
		       "error";
	w->ret->catches = true;
	rewrite_say(w, o, helper);
	rewrite_say(w, o, "(()=>");
	put_arg(w, o, a, 0);
	rewrite_say(w, o, ",()=>");
	if (a->n == 2)
		put_arg(w, o, a, 1);
	else
		rewrite_say(w, o, "null");
	rewrite_say(w, o, ")");
	return NULL;
}

static const char *form_iferror(struct rewriter *w, struct out *o,
				struct args *a)
{
	return form_catch(w, o, a, "$E");
}

static const char *form_ifna(struct rewriter *w, struct out *o, struct args *a)
{
	return form_catch(w, o, a, "$EN");
}

static const struct form forms[] = {
	{"IF", form_if},     {"IFS", form_ifs}, {"SWITCH", form_switch},
	{"AND", form_and},   {"OR", form_or},   {"IFERROR", form_iferror},
	{"IFNA", form_ifna},
};

const struct form *form_find(const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strlen(forms[i].name) == n && !memcmp(forms[i].name, p, n))
			return &forms[i];
	return NULL;
}

#include "policy/later.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/units.h"
#include "policy/flow.h"
#include "policy/grants.h"
#include "policy/guest_name.h"
#include "policy/read.h"

#define WHERE "policy"

struct seen {
	bool it;
};

static bool is_secret(const struct tree *v)
{
	const struct tree *name = tree_get(v, "secret");

	return name && v->count == 1 && name->kind == TREE_SCALAR &&
	       !tree_is_null(name) && name->text.len;
}

/* METHOD SPACE URL: enough to find a mistyped line. */
static const char *allow_flaw(struct str s)
{
	struct str method, url, host, path;

	if (!str_is_plain(s))
		return "a control character; remove it";
	if (!str_split(s, ' ', &method, &url) || !method.len)
		return "write a method and a URL, for example "
		       "GET https://api.example.com/v1/*";
	for (size_t i = 0; i < method.len; i++) {
		if (method.p[i] < 'A' || method.p[i] > 'Z')
			return "the method is written in capitals, for "
			       "example GET";
	}
	if (str_starts(url, STR("https://")))
		host = str_after(url, 8);
	else if (str_starts(url, STR("http://")))
		host = str_after(url, 7);
	else
		return "the URL begins with https:// or http://";
	str_split(host, '/', &host, &path);
	if (!host.len || memchr(url.p, ' ', url.len))
		return "the URL has no host, or a space in it";
	return NULL;
}

static int read_allow(void *into, const struct tree *v,
		      struct redoma_error *err)
{
	struct seen *seen = into;
	const char *flaw;
	struct str s;
	int e = read_scalar(v, "net.allow", &s, err);

	if (e)
		return e;
	flaw = allow_flaw(s);
	if (flaw)
		return tree_refuse(v, err, "net.allow %s: %s", SHOW(s), flaw);
	seen->it = true;
	return 0;
}

static int read_header(void *into, const struct tree *map,
		       struct redoma_error *err)
{
	(void)into;
	if (map->kind != TREE_MAP)
		return tree_refuse(map, err, "net.header is not a map; write "
				   "header: {NAME: VALUE}");
	for (const struct tree *v = map->first; v; v = v->next) {
		bool text = v->kind == TREE_SCALAR && !tree_is_null(v) &&
			    str_is_plain(v->text);

		if (!v->key.len || !str_is_plain(v->key))
			return tree_refuse_key(v, err, "net.header: not a name "
					       "of a header");
		if (!text && !is_secret(v))
			return tree_refuse(v, err, "net.header %s: write a "
					   "text or {secret: NAME}",
					   SHOW(v->key));
	}
	return 0;
}

static int read_net_bytes(void *into, const struct tree *v,
			  struct redoma_error *err)
{
	uint64_t n;

	(void)into;
	return read_units(v, "net.max_bytes", units_size, &n, err);
}

static int read_net_entry(void *into, const struct tree *v,
			  struct redoma_error *err)
{
	static const struct field fields[] = {
		{"allow", read_allow}, {"header", read_header},
		{"max_bytes", read_net_bytes}, {NULL, NULL},
	};
	struct seen seen = {false};
	int e = read_map(v, "a net entry", fields, &seen, err);

	(void)into;
	if (!e && !seen.it)
		return tree_refuse(v, err, "net: an entry without \"allow:\"; "
				   "write allow: GET https://...");
	return e;
}

const struct policy_later *later_find(const struct policy *p, const char *key)
{
	for (size_t i = 0; i < p->n_later; i++) {
		if (str_equal(str_of(p->later[i].key), str_of(key)))
			return &p->later[i];
	}
	return NULL;
}

/* Takes what text holds. */
static int put(struct policy *p, const char *key, struct buf *text,
	       struct redoma_error *err)
{
	struct policy_later *l = (struct policy_later *)(uintptr_t)
		later_find(p, key);
	struct policy_later *grown;
	char *name = NULL;
	int e;

	if (l) {
		free(l->text);
		l->text = buf_take(text);
		return 0;
	}
	e = read_copy(str_of(key), &name, err);
	if (e)
		return e;
	grown = realloc(p->later, (p->n_later + 1) * sizeof *grown);
	if (!grown) {
		free(name);
		return err_nomem(err, WHERE);
	}
	p->later = grown;
	grown[p->n_later++] = (struct policy_later){name, buf_take(text)};
	return 0;
}

static int keep(struct policy *p, const char *key, const struct tree *v,
		struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};

	if (!v->count)
		return 0;
	if (flow_print(v, &text))
		return err_nomem(err, WHERE);
	return put(p, key, &text, err);
}

int later_read_net(void *policy, const struct tree *v, struct redoma_error *err)
{
	int e = read_list(v, "net", read_net_entry, NULL, err);

	return e ? e : keep(policy, "net", v, err);
}

/* Puts one entry before the closing bracket of the list that is there. */
static int extend(struct policy *p, const char *key, const struct tree *entry,
		  struct redoma_error *err)
{
	const struct policy_later *l = later_find(p, key);
	CLEANUP(buf_done) struct buf text = {0};

	if (l && (buf_add(&text, l->text, strlen(l->text) - 1) ||
		  buf_add(&text, ", ", 2)))
		return err_nomem(err, WHERE);
	if (!l && buf_add(&text, "[", 1))
		return err_nomem(err, WHERE);
	if (flow_print(entry, &text) || buf_add(&text, "]", 1))
		return err_nomem(err, WHERE);
	if (text.len > TREE_TEXT_MAX / 2)
		return err_set(err, REDOMA_E_INVALID, WHERE, "%s: more than "
			       "512 KiB of entries; write fewer", key);
	return put(p, key, &text, err);
}

int later_option(struct policy *p, const char *key, struct str value,
		 struct redoma_error *err)
{
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true, .text = value,
			    .key = STR("allow")};
	struct tree entry = {.kind = TREE_MAP, .count = 1, .first = &leaf};
	int e = read_net_entry(NULL, &entry, err);

	return e ? e : extend(p, key, &entry, err);
}

int later_copy(const struct policy *p, struct policy *to,
	       struct redoma_error *err)
{
	for (size_t i = 0; i < p->n_later; i++) {
		CLEANUP(buf_done) struct buf text = {0};
		int e;

		if (buf_add(&text, p->later[i].text, strlen(p->later[i].text)))
			return err_nomem(err, WHERE);
		e = put(to, p->later[i].key, &text, err);
		if (e)
			return e;
	}
	return 0;
}

void later_done(struct policy *p)
{
	for (size_t i = 0; i < p->n_later; i++) {
		free(p->later[i].key);
		free(p->later[i].text);
	}
	free(p->later);
	p->later = NULL;
	p->n_later = 0;
}

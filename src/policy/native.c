#include "policy/native.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/units.h"
#include "policy/env.h"
#include "policy/guest_name.h"
#include "policy/read.h"

#define WHERE "policy"
#define ROOTS_MAX 64

void native_default(struct policy *p)
{
	p->native.tmp_bytes = NATIVE_TMP_DEFAULT;
	p->native.pids = NATIVE_PIDS_DEFAULT;
}

static const char *root_flaw(struct str s)
{
	if (str_equal(s, STR("runtime:")))
		return "no name after runtime:; write for example runtime:node";
	if (str_equal(s, STR("oci:")))
		return "no directory after oci:; write for example oci:image";
	return guest_name_flaw(s);
}

/* A name of the host starts from where the policy's names do. */
static int join(const struct policy *p, const char *dir, struct str s,
		char **ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct str kind = {0}, name = s;
	const char *base = dir ? dir : p->base_dir;

	if (str_starts(s, STR("runtime:")))
		return read_copy(s, ret, err);
	if (str_starts(s, STR("oci:"))) {
		kind = STR("oci:");
		name = (struct str){s.p + kind.len, s.len - kind.len};
	}
	if (buf_add(&b, kind.p, kind.len) ||
	    (name.p[0] != '/' &&
	     (buf_add(&b, base, strlen(base)) || buf_add(&b, "/", 1))) ||
	    buf_add(&b, name.p, name.len))
		return err_nomem(err, WHERE);
	*ret = buf_take(&b);
	return *ret ? 0 : err_nomem(err, WHERE);
}

static int add_root(struct policy *p, struct str s, const char *dir,
		    struct redoma_error *err)
{
	struct native_policy *n = &p->native;
	size_t count = env_count(n->roots);
	char **grown;

	if (count == ROOTS_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "native.root has more than %d entries",
			       ROOTS_MAX);
	grown = realloc(n->roots, (count + 2) * sizeof *grown);
	if (!grown)
		return err_nomem(err, WHERE);
	n->roots = grown;
	grown[count] = grown[count + 1] = NULL;
	return join(p, dir, s, &grown[count], err);
}

static int read_root(void *policy, const struct tree *v,
		     struct redoma_error *err)
{
	struct str s;
	const char *flaw;
	int e = read_scalar(v, "native.root", &s, err);

	if (e)
		return e;
	flaw = root_flaw(s);
	if (flaw)
		return tree_refuse(v, err, "native.root %s: %s", SHOW(s), flaw);
	return add_root(policy, s, NULL, err);
}

static int read_roots(void *policy, const struct tree *v,
		      struct redoma_error *err)
{
	return read_list(v, "native.root", read_root, policy, err);
}

static int read_tmp(void *policy, const struct tree *v,
		    struct redoma_error *err)
{
	struct policy *p = policy;

	return read_units(v, "native.tmp", units_size, &p->native.tmp_bytes,
			  err);
}

static int read_pids(void *policy, const struct tree *v,
		     struct redoma_error *err)
{
	struct policy *p = policy;
	int e = read_units(v, "native.pids", units_count, &p->native.pids, err);

	if (!e && p->native.pids > NATIVE_PIDS_MAX)
		return tree_refuse(v, err, "native.pids is over %u",
				   NATIVE_PIDS_MAX);
	return e;
}

static const struct field fields[] = {
	{"root", read_roots}, {"tmp", read_tmp}, {"pids", read_pids},
	{NULL, NULL},
};

int native_read(void *policy, const struct tree *v, struct redoma_error *err)
{
	return read_map(v, "native", fields, policy, err);
}

int native_option(struct policy *p, struct str value, const char *dir,
		  struct redoma_error *err)
{
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true};
	struct tree map = {.kind = TREE_MAP, .count = 1, .first = &leaf};
	const char *flaw;

	if (!str_split(value, '=', &leaf.key, &leaf.text))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "native %s: no value; write root=runtime:node, "
			       "tmp=64MiB or pids=32", SHOW(value));
	if (!str_equal(leaf.key, STR("root")))
		return native_read(p, &map, err);
	flaw = leaf.text.len ? root_flaw(leaf.text) : "is empty";
	if (flaw)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "native.root %s: %s", SHOW(leaf.text), flaw);
	return add_root(p, leaf.text, dir, err);
}

int native_copy(const struct policy *p, struct policy *to,
		struct redoma_error *err)
{
	to->native = p->native;
	to->native.roots = NULL;
	return p->native.roots ? env_copy(p->native.roots, &to->native.roots,
					  err)
			       : 0;
}

int native_print(const struct policy *p, struct buf *out)
{
	char size[UNITS_TEXT_MAX];
	char **r = p->native.roots;

	if (buf_addf(out, "native: {root: ["))
		return -1;
	for (size_t i = 0; r && r[i]; i++) {
		if ((i && buf_add(out, ", ", 2)) ||
		    json_put_string(out, r[i], strlen(r[i])))
			return -1;
	}
	return buf_addf(out, "], tmp: %s, pids: %" PRIu64 "}\n",
			units_print_size(p->native.tmp_bytes, size),
			p->native.pids);
}

static bool has_root(const struct policy *p, const char *root)
{
	char **r = p->native.roots;

	/* The table's rows are what a program gets anyway. */
	if (!r || !r[0])
		return str_starts(str_of(root), STR("runtime:"));
	for (; *r; r++)
		if (!strcmp(*r, root))
			return true;
	return false;
}

static int wider(struct redoma_error *err, const char *what)
{
	return err_set(err, REDOMA_E_DENIED, WHERE,
		       "native.%s is more than the policy's; ask for no more "
		       "than that", what);
}

int native_contains(const struct policy *outer, const struct policy *inner,
		    struct redoma_error *err)
{
	const struct native_policy *in = &inner->native, *out = &outer->native;

	if (in->tmp_bytes > out->tmp_bytes)
		return wider(err, "tmp");
	if (in->pids > out->pids)
		return wider(err, "pids");
	for (size_t i = 0; in->roots && in->roots[i]; i++)
		if (!has_root(outer, in->roots[i]))
			return wider(err, "root");
	/* Without a root of its own it would get one that nobody named. */
	if (out->roots && out->roots[0] && (!in->roots || !in->roots[0]))
		return wider(err, "root");
	return 0;
}

void native_done(struct policy *p)
{
	env_free(p->native.roots);
	p->native.roots = NULL;
}

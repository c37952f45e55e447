#include "core/tier.h"

#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/cleanup.h"
#include "pool/jails.h"

#define BIT(c) (1u << (c))
#define ALL (BIT(JAIL_CONTROLS) - 1)
#define SPACES                                                               \
	(BIT(JAIL_USER) | BIT(JAIL_MOUNT) | BIT(JAIL_PID) | BIT(JAIL_NET) |  \
	 BIT(JAIL_IPC) | BIT(JAIL_UTS))
/* Of the jail that is tried. */
#define TRY_TMP ((uint64_t)1 << 20)
#define TRY_MEMORY ((uint64_t)64 << 20)
#define TRY_PIDS 16u

/* What trying a native jail came to. */
struct tried {
	bool runs;	/* with `lacks` in walls */
	uint32_t lacks;
	bool no_proc;
	struct redoma_error why;     /* of a run that asks for every wall */
	struct redoma_error in_vain; /* of one that names them all */
};

static uint32_t missing(const uint8_t *state)
{
	uint32_t lacks = 0;

	for (int c = 0; c < JAIL_CONTROLS; c++)
		if (state[c] == JAIL_UNAVAILABLE)
			lacks |= BIT(c);
	return lacks;
}

static int try_once(struct jails *j, uint32_t may_lack, struct tried *t,
		    struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf root = {0};
	struct native_setup setup;
	const struct jails_want w = {.tenant = "",
				     .root_digest = "",
				     .setup = &setup,
				     .root = &root};
	struct native_dead dead;
	struct slot *slot;
	int r;

	memset(&setup, 0, sizeof setup);
	setup.abi = NATIVE_ABI;
	setup.may_lack = may_lack;
	setup.tmp_bytes = TRY_TMP;
	setup.memory_bytes = TRY_MEMORY;
	setup.pids = TRY_PIDS;
	r = native_root_encode(NULL, 0, &root, err);
	if (!r)
		r = jails_take(j, &w, &slot, err);
	if (r)
		return r;
	t->runs = true;
	t->lacks = missing(slot->ready.state);
	t->no_proc = slot->ready.no_proc;
	return jails_end(j, slot, false, &dead, err);
}

static void try_native(const char *init_path, struct tried *t)
{
	struct jails_options o = {.init_path = init_path};
	struct jails *j;
	int r;

	if (!init_path) {
		err_set(&t->why, REDOMA_E_UNSUPPORTED, "core",
			"redoma-init is not installed");
		t->in_vain = t->why;
		return;
	}
	r = jails_new(&o, &j, &t->why);
	if (r) {
		t->in_vain = t->why;
		return;
	}
	r = try_once(j, 0, t, &t->why);
	if (r && !t->runs)
		r = try_once(j, ALL, t, &t->in_vain);
	jails_free(j);
}

/* One text of the answer. */
struct line {
	struct buf b;
	bool failed;
};

static void line_done(struct line *l)
{
	buf_done(&l->b);
}

static void add(struct line *l, const char *before, const char *text)
{
	l->failed |= buf_addf(&l->b, "%s%s", before, text) != 0;
}

static void add_word(struct line *l, const char *word)
{
	add(l, l->b.len ? "; " : "", word);
}

static void add_names(struct line *l, uint32_t lacks, const char *before,
		      const char *between)
{
	for (int c = 0; c < JAIL_CONTROLS; c++) {
		if (!(lacks & BIT(c)))
			continue;
		add(l, before, jail_control_name((enum jail_control)c));
		before = between;
	}
}

static void name_tier(struct line *l, uint32_t lacks, bool no_proc)
{
	static const struct {
		uint32_t bits;
		const char *words;
	} rows[] = { /* the first that fits */
		{SPACES, "no namespaces"},
		{BIT(JAIL_USER) | BIT(JAIL_MOUNT),
		 "no user and mount namespaces"},
		{BIT(JAIL_USER), "no user namespaces"},
		{BIT(JAIL_MOUNT), "no mounts in user namespaces"},
		{BIT(JAIL_CGROUP), "no control group"},
		{BIT(JAIL_LANDLOCK), "no Landlock"},
		{BIT(JAIL_SECCOMP), "no system call filter"},
		{BIT(JAIL_NNP), "no no_new_privs"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if ((lacks & rows[i].bits) != rows[i].bits)
			continue;
		add_word(l, rows[i].words);
		lacks &= ~rows[i].bits;
		/* What an ordinary user then lacks follows from it. */
		if (rows[i].bits == SPACES)
			lacks &= ~(BIT(JAIL_CGROUPNS) | BIT(JAIL_CAPS));
	}
	if (lacks)
		add_names(l, lacks, l->b.len ? "; no " : "no ", "; no ");
	if (no_proc)
		add_word(l, "no /proc");
	if (!l->b.len)
		add_word(l, "full");
}

static void put(struct json_writer *w, const char *key, struct line *l)
{
	json_write_key(w, key);
	json_write_string(w, l->b.data ? l->b.data : "", l->b.len);
	w->failed |= l->failed;
	buf_clear(&l->b);
}

static void put_wasm(struct json_writer *w, uint32_t lacks, struct line *l)
{
	lacks &= ~BIT(JAIL_CGROUP); /* theirs is bounded by the engine */
	if (lacks)
		add_names(l, lacks, "need --walls ", ",");
	else
		add_word(l, "run");
	put(w, "wasm", l);
}

static void put_native(struct json_writer *w, const struct tried *t,
		       struct line *l)
{
	if (t->runs && t->lacks)
		add_names(l, t->lacks, "need --walls ", ",");
	else if (t->runs)
		add_word(l, "run");
	else
		add(l, "cannot run: ", t->in_vain.text);
	put(w, "native", l);
}

void tier_put(struct json_writer *w, const struct jail_report *r,
	      const char *init_path)
{
	CLEANUP(line_done) struct line l = {0};
	struct tried t = {0};
	uint32_t lacks = missing(r->state);

	try_native(init_path, &t);
	json_write_key(w, "tier");
	json_write_begin(w, '{');
	/* What a jail's group really did counts more than a directory. */
	name_tier(&l, lacks | (t.lacks & BIT(JAIL_CGROUP)), t.no_proc);
	put(w, "name", &l);
	put_wasm(w, lacks, &l);
	put_native(w, &t, &l);
	if (t.why.code) {
		json_write_key(w, "why");
		json_write_text(w, t.why.text);
	}
	json_write_end(w, '}');
}

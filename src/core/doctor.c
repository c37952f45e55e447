#include <redoma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/json.h"
#include "core/fit.h"
#include "core/install.h"
#include "core/remake.h"
#include "core/tier.h"
#include "jail/jail.h"
#include "pool/zygote.h"

#define WHERE "core"

static const char *state_name(uint8_t state)
{
	switch (state) {
	case JAIL_ENFORCED:
		return "enforced";
	case JAIL_NOT_REQUESTED:
		return "not requested";
	default:
		return "unavailable";
	}
}

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_text(w, value);
}

/* Where the memory of a native program is bounded. */
static const char *cgroup_kind(uint8_t cgroups)
{
	switch (cgroups) {
	case JAIL_CGROUPS_V2:
		return "v2";
	case JAIL_CGROUPS_HYBRID:
		return "hybrid";
	case JAIL_CGROUPS_V1:
		return "v1";
	case JAIL_CGROUPS_DENIED:
		return "none that we may use";
	default:
		return "none";
	}
}

static void put_control(struct json_writer *w, const struct jail_report *r,
			enum jail_control c)
{
	char abi[32];

	json_write_begin(w, '{');
	put(w, "name", jail_control_name(c));
	put(w, "state", state_name(r->state[c]));
	if (c == JAIL_LANDLOCK && r->state[c] == JAIL_ENFORCED) {
		snprintf(abi, sizeof abi, "abi %d", r->landlock_abi);
		put(w, "detail", abi);
	}
	if (c == JAIL_CGROUP)
		put(w, "detail", cgroup_kind(r->cgroups));
	if (r->state[c] == JAIL_UNAVAILABLE) {
		if (r->sys[c] && c != JAIL_CGROUP)
			put(w, "detail", strerrordesc_np(r->sys[c]));
		put(w, "remedy", jail_remedy(c, r->sys[c]));
	}
	json_write_end(w, '}');
}

/* Whether it loads here is for the engine to say, in a process of its own. */
struct fitting {
	struct remake remake;
	bool unfit;
	struct redoma_error why; /* of unfit */
	struct redoma_error in_vain; /* code 0: it can be compiled here */
};

static int keep_reason(void *data, const struct redoma_error *why, int *ret_fd,
		       struct redoma_error *err)
{
	struct fitting *f = data;

	(void)ret_fd;
	f->unfit = true;
	f->why = *why;
	(void)!remake_check(&f->remake, why, &f->in_vain);
	return err_set(err, REDOMA_E_BUSY, WHERE, "it was only asked");
}

static void try_image(struct redoma *h, const char *path, struct fitting *f)
{
	struct pool_options o = {.worker_path = h->worker, .per_cpu = 1};
	struct redoma_error other; /* what the controls say already */
	struct pool_want w = {
		.tenant = "",
		.profile = f->remake.profile,
		.image_path = path,
		.other_image = keep_reason,
		.other_image_data = f,
		.may_lack = UINT32_MAX,
	};
	struct zygote *z = NULL;

	if (!zygote_start(&o, &w, &z, &other))
		zygote_end(z);
}

static void put_unfit(struct json_writer *w, const struct fitting *f)
{
	if (f->in_vain.code) {
		put(w, "state", "unfit");
		put(w, "remedy", f->in_vain.text);
		return;
	}
	put(w, "state", "replaced");
	put(w, "detail", f->why.text);
	put(w, "remedy", "it is compiled on this machine at its first run, and "
			 "kept in the cache; to spare that, build Redoma here");
}

static void put_image(struct json_writer *w, struct redoma *h,
		      const struct lang *l, enum profile profile)
{
	struct fitting f = {.remake = {.h = h,
				       .lang = l,
				       .profile = profile,
				       .may_lack = UINT32_MAX}};
	struct redoma_error e;
	char path[PATH_ROOM];
	bool there = !install_image(h, lang_image(l, profile), path, &e);

	if (there)
		try_image(h, path, &f);
	json_write_begin(w, '{');
	put(w, "name", lang_image(l, profile));
	if (f.unfit)
		put_unfit(w, &f);
	else
		put(w, "state", there ? "ready" : "missing");
	if (!there)
		put(w, "remedy", e.text);
	json_write_end(w, '}');
}

static void put_images(struct json_writer *w, struct redoma *h)
{
	const struct lang *const langs[] = {lang_find("js"),
					    lang_formulas(lang_find("js")),
					    lang_find("py"),
					    lang_formulas(lang_find("py"))};
	size_t i;

	for (i = 0; i < sizeof langs / sizeof *langs; i++) {
		put_image(w, h, langs[i], PROFILE_IMAGE);
		put_image(w, h, langs[i], PROFILE_IMAGE_FUEL);
	}
}

static void put_install(struct json_writer *w, struct redoma *h,
			const char *problem)
{
	json_write_key(w, "install");
	json_write_begin(w, '{');
	put(w, "state", problem ? "missing" : "ready");
	put(w, problem ? "remedy" : "directory",
	    problem ? problem : h->install);
	json_write_end(w, '}');
	json_write_key(w, "images");
	json_write_begin(w, '[');
	if (!problem)
		put_images(w, h);
	json_write_end(w, ']');
}

/* "redoma-init" starts them; without a group their memory has no limit. */
static void put_need(struct json_writer *w, const char *name, const char *state,
		     const char *remedy)
{
	json_write_begin(w, '{');
	put(w, "name", name);
	put(w, "state", state);
	if (remedy)
		put(w, "remedy", remedy);
	json_write_end(w, '}');
}

static void put_native(struct json_writer *w, const struct redoma *h,
		       const struct jail_report *r, bool installed)
{
	bool there = installed && !access(h->init, X_OK);
	bool group = r->state[JAIL_CGROUP] == JAIL_ENFORCED;

	json_write_key(w, "native");
	json_write_begin(w, '[');
	put_need(w, "redoma-init", there ? "ready" : "missing",
		 there ? NULL : "build or install it beside redoma-worker");
	put_need(w, "memory-cgroup", group ? "ready" : "missing",
		 group ? NULL
		       : jail_remedy(JAIL_CGROUP, r->sys[JAIL_CGROUP]));
	json_write_end(w, ']');
}

int redoma_doctor(const struct redoma_options *o, char **ret,
		  struct redoma_error *err)
{
	CLEANUP_FREE struct redoma *h = calloc(1, sizeof *h);
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	struct redoma_options known = REDOMA_OPTIONS_INIT;
	struct redoma_error missing = {0};
	struct jail_report report;
	int c, r = 0;

	if (!h)
		return err_nomem(err, WHERE);
	if (o)
		r = fit_struct(&known, sizeof known, o, o->size, err);
	if (!r)
		r = jail_probe(&report, err);
	if (!r)
		r = install_cache(h, known.cache_dir, err);
	if (r)
		return r;
	r = install_find(h, known.install_dir, &missing);
	json_write_begin(&w, '{');
	tier_put(&w, &report, r ? NULL : h->init);
	json_write_key(&w, "controls");
	json_write_begin(&w, '[');
	for (c = 0; c < JAIL_CONTROLS; c++)
		put_control(&w, &report, (enum jail_control)c);
	json_write_end(&w, ']');
	put_install(&w, h, r ? missing.text : NULL);
	put_native(&w, h, &report, !r);
	json_write_end(&w, '}');
	cache_free(h->cache);
	if (json_write_done(&w))
		return err_nomem(err, WHERE);
	*ret = buf_take(&b);
	return *ret ? 0 : err_nomem(err, WHERE);
}

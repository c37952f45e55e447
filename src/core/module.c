#include "core/module.h"

#include "base/hash.h"

int module_cache(struct redoma *h, struct redoma_error *err)
{
	struct cache_options o = {.dir = h->cache_dir,
				  .key_file = h->cache_key};

	return h->cache ? 0 : cache_open(&o, &h->cache, err);
}

int module_artefact(struct redoma *h, struct module *m, int *ret_fd,
		    struct redoma_error *err)
{
	struct compile_options o = {.cancelled = &h->cancelled,
				    .program = h->compiler,
				    .profile = m->profile,
				    .may_lack = m->may_lack,
				    .what = m->what};
	struct cache_module cm = {.p = m->bytes.p,
				  .len = m->bytes.len,
				  .digest = m->digest};
	int r = module_cache(h, err);

	if (r)
		return r;
	if (m->q && m->what) {
		o.on_wait = m->q->on_wait;
		o.on_wait_data = m->q->on_wait_data;
	}
	hash_sha256(m->bytes.p, m->bytes.len, m->digest);
	return cache_artefact(h->cache, &o, &cm, ret_fd, NULL, err);
}

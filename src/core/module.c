#include "core/module.h"

#include "base/hash.h"

int module_artefact(struct redoma *h, struct module *m, int *ret_fd,
		    struct redoma_error *err)
{
	struct cache_options co = {.dir = h->cache_dir,
				   .key_file = h->cache_key};
	struct compile_options o = {.cancelled = &h->cancelled,
				    .program = h->compiler,
				    .profile = m->profile,
				    .may_lack = m->may_lack};
	struct cache_module cm = {.p = m->bytes.p,
				  .len = m->bytes.len,
				  .digest = m->digest};
	int r = h->cache ? 0 : cache_open(&co, &h->cache, err);

	if (r)
		return r;
	hash_sha256(m->bytes.p, m->bytes.len, m->digest);
	return cache_artefact(h->cache, &o, &cm, ret_fd, NULL, err);
}

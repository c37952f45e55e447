#include "core/remake.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "core/install.h"
#include "core/module.h"

#define WHERE "core"
#define OBSTACLE 92
#define OBSTACLE_HEAD 38

/* What to do comes last and must not be cut; of a long obstacle, which has a
 * path in it, the middle is. */
static int impossible(const struct remake *m, const struct redoma_error *why,
		      const char *obstacle, struct redoma_error *err)
{
	size_t len = strlen(obstacle);
	const char *tail = obstacle + len;
	int head = OBSTACLE;

	if (len > OBSTACLE) {
		head = OBSTACLE_HEAD;
		tail -= OBSTACLE - OBSTACLE_HEAD - 3;
	}
	return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
		       "images/%s %.40s, and cannot be compiled here: "
		       "%.*s%s%s; put that right, or build Redoma here",
		       lang_image(m->lang, m->profile), why->text, head,
		       obstacle, *tail ? "..." : "", tail);
}

static int find_wasm(const struct remake *m, char path[PATH_ROOM])
{
	int n = snprintf(path, PATH_ROOM, "%s/images/%s", m->h->install,
			 m->lang->image_wasm);

	return n > 0 && n < PATH_ROOM && !access(path, R_OK) ? 0 : -1;
}

/* docs/design/images.md.  Nothing is compiled that could not be kept: each
 * process that runs once would do it again. */
int remake_check(const struct remake *m, const struct redoma_error *why,
		 struct redoma_error *err)
{
	char path[PATH_ROOM], missing[64];
	int r;

	if (access(m->h->compiler, X_OK))
		return impossible(m, why, "redoma-compile is missing", err);
	if (find_wasm(m, path)) {
		snprintf(missing, sizeof missing, "images/%s is missing",
			 m->lang->image_wasm);
		return impossible(m, why, missing, err);
	}
	r = module_cache(m->h, err);
	if (r || !cache_problem(m->h->cache))
		return r;
	return impossible(m, why, cache_problem(m->h->cache), err);
}

static int read_wasm(const struct remake *m, struct buf *b,
		     struct redoma_error *err)
{
	char path[PATH_ROOM];
	CLEANUP_FD int fd = -1;

	if (!find_wasm(m, path))
		fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC));
	if (fd < 0)
		return err_sys(err, WHERE, "open images/%s",
			       m->lang->image_wasm);
	return fd_read_all(fd, COMPILE_MODULE, m->lang->image_wasm, b, err);
}

int remake_image(void *data, const struct redoma_error *why, int *ret_fd,
		 struct redoma_error *err)
{
	const struct remake *m = data;
	CLEANUP(buf_done) struct buf wasm = {0};
	struct redoma_error obstacle = {0};
	char what[64];
	struct module module = {
		.profile = m->profile,
		.may_lack = m->may_lack,
		.q = m->q,
		.what = what,
	};
	int r = remake_check(m, why, err);

	if (!r)
		r = read_wasm(m, &wasm, err);
	if (r)
		return r;
	snprintf(what, sizeof what, "compiling images/%s for this CPU, once",
		 m->lang->image_wasm);
	module.bytes = (struct str){wasm.data, wasm.len};
	r = module_artefact(m->h, &module, ret_fd, &obstacle);
	/* It is ours: that it cannot be compiled is no fault of the caller. */
	if (r == REDOMA_E_INVALID)
		return impossible(m, why, obstacle.text, err);
	if (r && err)
		*err = obstacle;
	return r;
}

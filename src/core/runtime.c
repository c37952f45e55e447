#include <redoma.h>

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "runtime/runtime.h"

#define WHERE "core"

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_text(w, value);
}

static int finish(struct json_writer *w, char **ret, struct redoma_error *err)
{
	char *text = json_write_done(w) ? NULL : buf_take(w->buf);

	if (!text)
		return err_nomem(err, WHERE);
	*ret = text;
	return 0;
}

static void put_info(struct json_writer *w, const struct runtime_info *i)
{
	json_write_begin(w, '{');
	put(w, "name", i->name);
	put(w, "program", i->program);
	put(w, "version", i->version_hint);
	put(w, "origin", i->origin);
	json_write_key(w, "available");
	json_write_bool(w, i->available);
	put(w, "why_not", i->why_not);
	json_write_end(w, '}');
}

int redoma_runtime_list(char **ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	struct runtime_info *list = NULL;
	size_t n = 0;
	int rc = runtime_list(&list, &n, err);

	if (rc)
		return rc;
	json_write_begin(&w, '{');
	json_write_key(&w, "runtimes");
	json_write_begin(&w, '[');
	for (size_t i = 0; i < n; i++)
		put_info(&w, &list[i]);
	json_write_end(&w, ']');
	json_write_end(&w, '}');
	runtime_list_free(list, n);
	return finish(&w, ret, err);
}

static void put_entry(struct json_writer *w, const struct root_entry *e)
{
	static const char *const kinds[] = {
		[ROOT_FILE] = "file", [ROOT_DIR] = "directory",
		[ROOT_LINK] = "link", [ROOT_TEXT] = "text",
		[ROOT_EMPTY] = "empty",
	};
	/* What `host` holds of each kind. */
	static const char *const means[] = {
		[ROOT_FILE] = "host", [ROOT_DIR] = "host",
		[ROOT_LINK] = "to",   [ROOT_TEXT] = "text",
		[ROOT_EMPTY] = NULL,
	};

	json_write_begin(w, '{');
	put(w, "guest", e->guest);
	put(w, "kind", kinds[e->kind]);
	if (means[e->kind])
		put(w, means[e->kind], e->host);
	json_write_key(w, "exec");
	json_write_bool(w, e->exec);
	json_write_end(w, '}');
}

int redoma_runtime_show(const char *name, char **ret, struct redoma_error *err)
{
	CLEANUP(root_cleanup) struct root r = {0};
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	int rc = name ? runtime_root(name, NULL, &r, err)
		      : err_set(err, REDOMA_E_INVALID, WHERE,
				"no runtime was named; name one");

	if (rc)
		return rc;
	json_write_begin(&w, '{');
	put(&w, "name", name);
	put(&w, "program", r.program);
	put(&w, "digest", r.digest);
	json_write_key(&w, "entries");
	json_write_begin(&w, '[');
	for (size_t i = 0; i < r.n; i++)
		put_entry(&w, &r.entries[i]);
	json_write_end(&w, ']');
	json_write_end(&w, '}');
	return finish(&w, ret, err);
}

int redoma_runtime_add(const char *name, const char *program,
		       const char *const *files, struct redoma_error *err)
{
	if (!name || !program)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a runtime needs a name and a program");
	return runtime_add(name, program, files, err);
}

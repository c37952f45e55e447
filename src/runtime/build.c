#include "runtime/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/str.h"

#define WHERE "runtime"
#define LINKS_MAX 40 /* as the kernel's */

static void entry_done(struct root_entry *e)
{
	free(e->guest);
	free(e->host);
}

static void drop_from(struct build *b, size_t n)
{
	while (b->n > n)
		entry_done(&b->entries[--b->n]);
}

void build_done(struct build *b)
{
	drop_from(b, 0);
	free(b->entries);
	*b = (struct build){0};
}

void root_done(struct root *r)
{
	for (size_t i = 0; i < r->n; i++)
		entry_done(&r->entries[i]);
	free(r->entries);
	free(r->program);
	free(r->bootstrap);
	*r = (struct root){0};
}

static int make_room(struct build *b, struct redoma_error *err)
{
	size_t room = b->room ? b->room * 2 : 64;
	struct root_entry *p;

	if (b->n < b->room)
		return 0;
	/* Twice what a root may have: some of it is dropped at the end. */
	if (b->n >= (size_t)BUILD_ENTRIES_MAX * 2)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the root would have more than %u entries; name "
			       "directories instead of single files",
			       BUILD_ENTRIES_MAX);
	p = reallocarray(b->entries, room, sizeof(*p));
	if (!p)
		return err_nomem(err, WHERE);
	b->entries = p;
	b->room = room;
	return 0;
}

int build_add(struct build *b, enum root_kind kind, const char *guest,
	      const char *host, struct redoma_error *err)
{
	CLEANUP_FREE char *g = strdup(guest);
	CLEANUP_FREE char *h = strdup(host);
	int rc = make_room(b, err);

	if (rc)
		return rc;
	if (!g || !h)
		return err_nomem(err, WHERE);
	b->entries[b->n++] = (struct root_entry){
		.kind = kind, .guest = TAKE_PTR(g), .host = TAKE_PTR(h)};
	return 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]);
}

bool build_moves(const char *path)
{
	static const char *const own[] = {"/dev", "/proc", "/redoma", "/sys",
					  "/tmp"};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (is_below(path, own[i]))
			return true;
	return false;
}

int build_guest(const char *path, char ret[PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s%s",
			 build_moves(path) ? BUILD_MOVED : "", path);

	return n > 0 && n < PATH_MAX ? 0 : -1;
}

static int too_long(const char *path, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE, "the path %s is too long",
		       SHOW(str_of(path)));
}

static int add_mapped(struct build *b, enum root_kind kind, const char *path,
		      const char *host, struct redoma_error *err)
{
	char guest[PATH_MAX], to[PATH_MAX];

	if (build_guest(path, guest))
		return too_long(path, err);
	/* The text of an absolute link moves with what it names. */
	if (kind == ROOT_LINK && host[0] == '/') {
		if (build_guest(host, to))
			return too_long(host, err);
		host = to;
	}
	return build_add(b, kind, guest, host, err);
}

struct walk {
	struct build *b;
	const char *path; /* as it was asked for */
	char real[PATH_MAX];
	char rest[PATH_MAX];
	struct stat st;
	int links;
	bool missing;
};

/* The next component of w->rest, taken off its front; false: none. */
static bool take_name(struct walk *w, char name[NAME_MAX + 1], bool *ret_long)
{
	size_t skip = strspn(w->rest, "/");
	size_t n = strcspn(w->rest + skip, "/");

	*ret_long = n > NAME_MAX;
	if (!n || *ret_long)
		return false;
	memcpy(name, w->rest + skip, n);
	name[n] = '\0';
	memmove(w->rest, w->rest + skip + n, strlen(w->rest + skip + n) + 1);
	return true;
}

static void pop(struct walk *w)
{
	char *slash = strrchr(w->real, '/');

	if (slash)
		*slash = '\0';
}

static int follow(struct walk *w, struct redoma_error *err)
{
	char text[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(w->real, text, sizeof(text) - 1);
	int rc, len;

	if (n <= 0 || ++w->links > LINKS_MAX) {
		w->missing = true;
		return 0;
	}
	text[n] = '\0';
	rc = add_mapped(w->b, ROOT_LINK, w->real, text, err);
	if (rc)
		return rc;
	len = snprintf(rest, sizeof(rest), "%s%s", text, w->rest);
	if (len < 0 || len >= (int)sizeof(rest))
		return too_long(w->path, err);
	memcpy(w->rest, rest, (size_t)len + 1);
	if (text[0] == '/')
		w->real[0] = '\0';
	else
		pop(w);
	return 0;
}

static int step(struct walk *w, const char *name, struct redoma_error *err)
{
	size_t at = strlen(w->real);
	int rc = 0;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		/* It must exist inside to be left again. */
		if (at)
			rc = add_mapped(w->b, ROOT_EMPTY, w->real, "", err);
		pop(w);
		return rc;
	}
	if (at + 1 + strlen(name) >= PATH_MAX)
		return too_long(w->path, err);
	w->real[at] = '/';
	strcpy(w->real + at + 1, name);
	if (lstat(w->real, &w->st)) {
		if (err_is_shortage(errno))
			return err_sys(err, WHERE, "look at %s",
				       SHOW(str_of(w->real)));
		w->missing = true;
		return 0;
	}
	return S_ISLNK(w->st.st_mode) ? follow(w, err) : 0;
}

static int walk_path(struct walk *w, struct redoma_error *err)
{
	char name[NAME_MAX + 1];
	bool is_long = false;
	int rc = 0;

	if (w->path[0] != '/' || strlen(w->path) >= PATH_MAX)
		return too_long(w->path, err);
	strcpy(w->rest, w->path);
	while (!rc && !w->missing && take_name(w, name, &is_long))
		rc = step(w, name, err);
	/* ".." and links change what was looked at last. */
	if (!rc && !w->missing && !is_long && stat(w->real, &w->st))
		w->missing = true;
	w->missing |= is_long || !w->real[0];
	return rc;
}

int build_path(struct build *b, const char *path, bool exec,
	       enum build_found *found, char real[PATH_MAX],
	       struct redoma_error *err)
{
	CLEANUP_FREE struct walk *w = calloc(1, sizeof(*w));
	enum build_found what = BUILD_OTHER;
	size_t before = b->n;
	int rc;

	if (!w)
		return err_nomem(err, WHERE);
	w->b = b;
	w->path = path;
	rc = walk_path(w, err);
	if (w->missing)
		what = BUILD_NONE;
	else if (S_ISREG(w->st.st_mode))
		what = BUILD_FILE;
	else if (S_ISDIR(w->st.st_mode))
		what = BUILD_DIR;
	if (!rc && (what == BUILD_FILE || what == BUILD_DIR)) {
		rc = add_mapped(b, what == BUILD_DIR ? ROOT_DIR : ROOT_FILE,
				w->real, w->real, err);
		if (!rc)
			b->entries[b->n - 1].exec = exec;
	} else {
		drop_from(b, before);
	}
	if (rc) {
		drop_from(b, before);
		return rc;
	}
	*found = what;
	if (real)
		memcpy(real, w->real, PATH_MAX);
	return 0;
}

/* By name; of the same name first what shows most. */
static int compare(const void *a, const void *b)
{
	static const int order[] = {
		[ROOT_DIR] = 0,	 [ROOT_FILE] = 1,  [ROOT_LINK] = 2,
		[ROOT_TEXT] = 3, [ROOT_EMPTY] = 4,
	};
	const struct root_entry *x = a, *y = b;
	int by_name = strcmp(x->guest, y->guest);

	return by_name ? by_name : order[x->kind] - order[y->kind];
}

/* The entry among the first n that shows, or whose place is, a directory above
 * e.  Names sort before what is below them, but not directly. */
static struct root_entry *find_above(struct build *b, size_t n,
				     const struct root_entry *e)
{
	char name[PATH_MAX];
	char *slash;

	snprintf(name, sizeof(name), "%s", e->guest);
	while ((slash = strrchr(name, '/')) && slash != name) {
		struct root_entry key = {.kind = ROOT_DIR, .guest = name};
		struct root_entry *at;

		*slash = '\0';
		at = bsearch(&key, b->entries, n, sizeof(key), compare);
		if (at)
			return at;
	}
	return NULL;
}

static void drop_doubles(struct build *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct root_entry *e = &b->entries[i];
		struct root_entry *last = kept ? &b->entries[kept - 1] : NULL;
		struct root_entry *same =
			last && !strcmp(last->guest, e->guest)
				? last
				: find_above(b, kept, e);

		if (same) {
			same->exec |= e->exec && e->kind == ROOT_FILE;
			same->exec |= e->exec && e->kind == ROOT_DIR;
			entry_done(e);
			continue;
		}
		b->entries[kept++] = *e;
	}
	b->n = kept;
}

/* An empty directory that something else makes anyway. */
static void drop_empty(struct build *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->n; i++) {
		struct root_entry *e = &b->entries[i];
		bool made = false;

		for (size_t j = i + 1; e->kind == ROOT_EMPTY && j < b->n; j++)
			made = made || is_below(b->entries[j].guest, e->guest);
		if (made)
			entry_done(e);
		else
			b->entries[kept++] = *e;
	}
	b->n = kept;
}

static void add_text(struct hash *h, const char *s)
{
	hash_add(h, s ? s : "", s ? strlen(s) + 1 : 1);
}

static int add_identity(struct hash *h, const char *path,
			struct redoma_error *err)
{
	struct stat st;
	uint64_t v[8];

	if (stat(path, &st))
		return err_sys(err, WHERE, "look at %s", SHOW(str_of(path)));
	v[0] = st.st_dev;
	v[1] = st.st_ino;
	v[2] = (uint64_t)st.st_size;
	v[3] = st.st_mode;
	v[4] = (uint64_t)st.st_mtim.tv_sec;
	v[5] = (uint64_t)st.st_mtim.tv_nsec;
	v[6] = (uint64_t)st.st_ctim.tv_sec;
	v[7] = (uint64_t)st.st_ctim.tv_nsec;
	hash_add(h, v, sizeof(v));
	return 0;
}

int build_digest(struct root *r, struct redoma_error *err)
{
	uint8_t sum[HASH_BYTES];
	struct hash h;
	int rc = 0;

	hash_init(&h);
	add_text(&h, r->program);
	add_text(&h, r->bootstrap);
	for (size_t i = 0; !rc && i < r->n; i++) {
		const struct root_entry *e = &r->entries[i];
		uint8_t kind[2] = {(uint8_t)e->kind, e->exec};

		hash_add(&h, kind, sizeof(kind));
		add_text(&h, e->guest);
		add_text(&h, e->host);
		if (e->kind == ROOT_FILE || e->kind == ROOT_DIR)
			rc = add_identity(&h, e->host, err);
	}
	hash_end(&h, sum);
	if (!rc)
		hash_hex(sum, sizeof(sum), r->digest);
	return rc;
}

int build_end(struct build *b, struct root *ret, struct redoma_error *err)
{
	if (b->n)
		qsort(b->entries, b->n, sizeof(*b->entries), compare);
	drop_doubles(b);
	drop_empty(b);
	if (b->n > BUILD_ENTRIES_MAX)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the root would have more than %u entries; name "
			       "directories instead of single files",
			       BUILD_ENTRIES_MAX);
	ret->entries = TAKE_PTR(b->entries);
	ret->n = b->n;
	*b = (struct build){0};
	return 0;
}

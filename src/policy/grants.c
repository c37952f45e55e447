#include "policy/grants.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/units.h"
#include "policy/guest_name.h"
#include "policy/read.h"

#define WHERE "policy"

const char *const grant_modes[] = {"replace", "append", "create", NULL};

/* A grant while it is read. */
struct draft {
	struct grant g;
	bool write, has_mode, has_range;
	struct str host, as;
	const struct tree *at; /* the entry */
};

void grant_done(struct grant *g)
{
	free(g->host);
	free(g->guest);
	g->host = g->guest = NULL;
}

static void draft_done(struct draft *d)
{
	grant_done(&d->g);
}

static void draft_init(struct draft *d, bool write, const struct tree *at)
{
	*d = (struct draft){
		.g = {.max_bytes = POLICY_UNSET,
		      .max_files = POLICY_UNSET,
		      .last = POLICY_UNSET,
		      .opens = POLICY_UNSET,
		      .line = at->line},
		.write = write,
		.at = at,
	};
}

int grant_copy(const struct grant *g, struct grant *ret,
	       struct redoma_error *err)
{
	CLEANUP(grant_done) struct grant c = *g;
	int e;

	c.host = c.guest = NULL;
	e = read_copy(str_of(g->host), &c.host, err);
	if (!e)
		e = read_copy(str_of(g->guest), &c.guest, err);
	if (e)
		return e;
	*ret = c;
	c.host = c.guest = NULL;
	return 0;
}

static int read_host(void *into, const struct tree *v, struct redoma_error *err)
{
	struct draft *d = into;

	return read_scalar(v, "host", &d->host, err);
}

static int read_as(void *into, const struct tree *v, struct redoma_error *err)
{
	struct draft *d = into;

	return read_scalar(v, "as", &d->as, err);
}

static int read_max_bytes(void *into, const struct tree *v,
			  struct redoma_error *err)
{
	struct draft *d = into;
	uint64_t n;
	int e = read_units(v, "max_bytes", units_size, &n, err);

	if (e)
		return e;
	if (n > GRANT_BYTES_MAX)
		return tree_refuse(v, err, "max_bytes %s: out of range; write "
				   "1B to 1048576GiB", SHOW(v->text));
	d->g.max_bytes = n;
	return 0;
}

static int read_max_files(void *into, const struct tree *v,
			  struct redoma_error *err)
{
	struct draft *d = into;

	return read_units(v, "max_files", units_count, &d->g.max_files, err);
}

static int read_opens(void *into, const struct tree *v,
		      struct redoma_error *err)
{
	struct draft *d = into;

	return read_units(v, "opens", units_count, &d->g.opens, err);
}

static int read_follow(void *into, const struct tree *v,
		       struct redoma_error *err)
{
	struct draft *d = into;

	return read_bool(v, "follow", &d->g.follow, err);
}

static int read_mode(void *into, const struct tree *v,
		     struct redoma_error *err)
{
	struct draft *d = into;
	unsigned mode = 0;
	int e = read_word(v, "mode", grant_modes, &mode, err);

	if (e)
		return e;
	d->g.mode = (enum write_mode)mode;
	d->has_mode = true;
	return 0;
}

static int read_sha256(void *into, const struct tree *v,
		       struct redoma_error *err)
{
	struct draft *d = into;
	struct str s;
	int e = read_scalar(v, "sha256", &s, err);

	if (e)
		return e;
	if (!hash_unhex(s.p, s.len, d->g.sha256, sizeof d->g.sha256))
		return tree_refuse(v, err, "sha256 %s: not a digest; write 64 "
				   "hexadecimal digits, as sha256sum prints",
				   SHOW(s));
	d->g.has_sha256 = true;
	return 0;
}

/* "0-1048575", inclusive; "100-" runs to the end. */
static int read_range(void *into, const struct tree *v,
		      struct redoma_error *err)
{
	struct draft *d = into;
	uint64_t first, last = POLICY_UNSET;
	struct str s, a, b;
	int e = read_scalar(v, "bytes", &s, err);

	if (e)
		return e;
	if (!str_split(s, '-', &a, &b) || units_number(a, &first) ||
	    (b.len && units_number(b, &last)))
		return tree_refuse(v, err, "bytes %s: not a range; write the "
				   "first and the last byte, for example "
				   "0-1048575", SHOW(s));
	if (first > INT64_MAX || (b.len && last > INT64_MAX))
		return tree_refuse(v, err, "bytes %s: no file is that long",
				   SHOW(s));
	if (first > last)
		return tree_refuse(v, err, "bytes %s: the range ends before it "
				   "begins; write the smaller number first",
				   SHOW(s));
	d->g.first = first;
	d->g.last = last;
	d->has_range = true;
	return 0;
}

static int refuse_name(const struct draft *d, const char *what, struct str name,
		       const char *flaw, struct redoma_error *err)
{
	return tree_refuse(d->at, err, "%s: %s %s: %s",
			   d->write ? "write" : "read", what, SHOW(name),
			   flaw);
}

static void settle_kind(struct draft *d, bool dir)
{
	if (d->write)
		d->g.kind = dir ? GRANT_WRITE_DIR : GRANT_WRITE_FILE;
	else
		d->g.kind = dir ? GRANT_READ_DIR : GRANT_READ_FILE;
}

static int settle_host(struct draft *d, struct redoma_error *err)
{
	const char *flaw;
	bool dir;

	if (!d->host.p)
		return tree_refuse(d->at, err, "%s: an entry without \"host:\";"
				   " write the path of the file on this "
				   "machine", d->write ? "write" : "read");
	flaw = guest_name_flaw(d->host);
	if (flaw)
		return refuse_name(d, "host", d->host, flaw, err);
	dir = str_ends(d->host, STR("/"));
	if (!dir && str_ends(d->as, STR("/")))
		return refuse_name(d, "host", d->host, "a file, but \"as\" "
				   "ends in /; end host in / too for a "
				   "directory", err);
	settle_kind(d, dir);
	return 0;
}

static int settle_guest(struct draft *d, struct redoma_error *err)
{
	const char *flaw = d->as.p ? guest_name(d->as, &d->g.guest)
				   : guest_name_of_host(d->host, &d->g.guest);

	if (flaw)
		return refuse_name(d, "as", d->as, flaw, err);
	if (!d->g.guest)
		return err_nomem(err, WHERE);
	if (!grant_is_dir(&d->g) && str_equal(str_of(d->g.guest), STR("/")))
		return refuse_name(d, d->as.p ? "as" : "host",
				   d->as.p ? d->as : d->host, "a file needs a "
				   "name inside; write for example as: "
				   "/data.csv", err);
	return 0;
}

static int settle_write(struct draft *d, struct redoma_error *err)
{
	bool dir = d->g.kind == GRANT_WRITE_DIR;

	if (d->g.max_bytes == POLICY_UNSET)
		return tree_refuse(d->at, err, "write: %s has no max_bytes; "
				   "write how much may be written, for "
				   "example max_bytes: 5MiB", SHOW(d->host));
	if (!dir && d->g.max_files != POLICY_UNSET)
		return tree_refuse(d->at, err, "write: %s is one file; "
				   "max_files is for directories, whose host "
				   "ends in /", SHOW(d->host));
	if (dir && d->has_mode && d->g.mode == WRITE_APPEND)
		return tree_refuse(d->at, err, "write: %s is a directory; mode "
				   "append is for files", SHOW(d->host));
	if (dir && d->g.max_files == POLICY_UNSET)
		d->g.max_files = GRANT_FILES_DEFAULT;
	if (!d->has_mode)
		d->g.mode = dir ? WRITE_CREATE : WRITE_REPLACE;
	return 0;
}

static int settle_read(struct draft *d, struct redoma_error *err)
{
	if (d->g.kind != GRANT_READ_DIR)
		return 0;
	if (d->g.has_sha256 || d->has_range)
		return tree_refuse(d->at, err, "read: %s is a directory; %s is "
				   "for single files", SHOW(d->host),
				   d->has_range ? "bytes" : "sha256");
	return 0;
}

static const struct grant *find_twin(const struct policy *p,
				     const struct grant *g)
{
	for (size_t i = 0; i < p->n_grants; i++) {
		if (grant_is_write(&p->grants[i]) == grant_is_write(g) &&
		    str_equal(str_of(p->grants[i].guest), str_of(g->guest)))
			return &p->grants[i];
	}
	return NULL;
}

/* A name that is one thing for reading and another for writing would make
 * "is it a directory?" depend on who asks. */
static const struct grant *find_clash(const struct policy *p,
				      const struct grant *g)
{
	for (size_t i = 0; i < p->n_grants; i++) {
		const struct grant *o = &p->grants[i];
		struct str a = str_of(o->guest), b = str_of(g->guest);
		bool same = str_equal(a, b);

		if (same && grant_is_dir(o) != grant_is_dir(g))
			return o;
		if (!grant_is_dir(o) && b.len > a.len && str_starts(b, a) &&
		    b.p[a.len] == '/')
			return o;
		if (!grant_is_dir(g) && a.len > b.len && str_starts(a, b) &&
		    a.p[b.len] == '/')
			return o;
	}
	return NULL;
}

static int check_others(const struct policy *p, const struct draft *d,
			struct redoma_error *err)
{
	const struct grant *o = find_twin(p, &d->g);
	char line[32] = "an earlier option";

	if (o && o->line)
		snprintf(line, sizeof line, "line %d", o->line);
	if (o)
		return tree_refuse(d->at, err, "%s: the name inside %s is "
				   "granted already by %s; give one of them "
				   "another name with \"as\"",
				   d->write ? "write" : "read",
				   SHOW(str_of(d->g.guest)), line);
	o = find_clash(p, &d->g);
	if (o && o->line)
		snprintf(line, sizeof line, "line %d", o->line);
	if (o)
		return tree_refuse(d->at, err, "%s: %s inside needs a "
				   "directory where %s grants a file, or the "
				   "reverse; rename one with \"as\"",
				   d->write ? "write" : "read",
				   SHOW(str_of(d->g.guest)), line);
	return 0;
}

static int append(struct policy *p, struct draft *d, struct redoma_error *err)
{
	struct grant *grown;

	if (p->n_grants == PLAN_GRANTS_MAX)
		return tree_refuse(d->at, err, "more than %d grants; grant a "
				   "directory instead of its files",
				   PLAN_GRANTS_MAX);
	grown = realloc(p->grants, (p->n_grants + 1) * sizeof *grown);
	if (!grown)
		return err_nomem(err, WHERE);
	p->grants = grown;
	p->grants[p->n_grants++] = d->g;
	d->g.host = d->g.guest = NULL;
	return 0;
}

/* dir: see grants_option. */
static int settle(struct policy *p, struct draft *d, const char *dir,
		  struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf host = {0};
	int e = settle_host(d, err);

	if (!e)
		e = settle_guest(d, err);
	if (!e)
		e = d->write ? settle_write(d, err) : settle_read(d, err);
	if (!e)
		e = check_others(p, d, err);
	if (e)
		return e;
	if (dir && d->host.p[0] != '/' && buf_addf(&host, "%s/", dir))
		return err_nomem(err, WHERE);
	if (buf_add(&host, d->host.p, d->host.len))
		return err_nomem(err, WHERE);
	d->g.host = buf_take(&host);
	return append(p, d, err);
}

static int read_entry(struct policy *p, const struct tree *v, bool write,
		      struct redoma_error *err)
{
	static const struct field of_read[] = {
		{"host", read_host}, {"as", read_as}, {"sha256", read_sha256},
		{"max_bytes", read_max_bytes}, {"bytes", read_range},
		{"follow", read_follow}, {"opens", read_opens}, {NULL, NULL},
	};
	static const struct field of_write[] = {
		{"host", read_host}, {"as", read_as},
		{"max_bytes", read_max_bytes}, {"max_files", read_max_files},
		{"mode", read_mode}, {NULL, NULL},
	};
	CLEANUP(draft_done) struct draft d;
	int e;

	draft_init(&d, write, v);
	if (v->kind == TREE_SCALAR)
		e = read_scalar(v, write ? "write" : "read", &d.host, err);
	else
		e = read_map(v, write ? "a write entry" : "a read entry",
			     write ? of_write : of_read, &d, err);
	return e ? e : settle(p, &d, NULL, err);
}

static int read_read(void *into, const struct tree *v, struct redoma_error *err)
{
	return read_entry(into, v, false, err);
}

static int read_write(void *into, const struct tree *v,
		      struct redoma_error *err)
{
	return read_entry(into, v, true, err);
}

int grants_read(void *into, const struct tree *v, struct redoma_error *err)
{
	return read_list(v, "read", read_read, into, err);
}

int grants_write(void *into, const struct tree *v, struct redoma_error *err)
{
	return read_list(v, "write", read_write, into, err);
}

int grants_option(struct policy *p, bool write, struct str value,
		  const char *dir, struct redoma_error *err)
{
	struct tree at = {.kind = TREE_SCALAR, .quoted = true};
	CLEANUP(draft_done) struct draft d;
	struct str size;
	int e;

	draft_init(&d, write, &at);
	if (write) {
		if (!str_split_last(value, ':', &value, &size))
			return tree_refuse(&at, err, "write %s: no size; write "
					   "HOST=GUEST:SIZE, for example "
					   "out.md=/out/out.md:5MiB",
					   SHOW(value));
		at.text = size;
		e = read_max_bytes(&d, &at, err);
		if (e)
			return e;
	}
	d.host = value;
	str_split_last(value, '=', &d.host, &d.as);
	return settle(p, &d, dir, err);
}

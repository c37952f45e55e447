#include "core/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/json.h"
#include "jail/jail.h"
#include "policy/tools.h"

static const char *const status_names[] = {
	[REDOMA_STATUS_OK] = "ok",
	[REDOMA_STATUS_ERROR] = "error",
	[REDOMA_STATUS_WALL_LIMIT] = "wall_limit",
	[REDOMA_STATUS_CPU_LIMIT] = "cpu_limit",
	[REDOMA_STATUS_FUEL_LIMIT] = "fuel_limit",
	[REDOMA_STATUS_MEMORY_LIMIT] = "memory_limit",
	[REDOMA_STATUS_STACK_LIMIT] = "stack_limit",
	[REDOMA_STATUS_OUTPUT_LIMIT] = "output_limit",
	[REDOMA_STATUS_CALL_LIMIT] = "call_limit",
	[REDOMA_STATUS_DENIED] = "denied",
	[REDOMA_STATUS_TRAP] = "trap",
	[REDOMA_STATUS_INVALID] = "invalid",
	[REDOMA_STATUS_CANCELLED] = "cancelled",
	[REDOMA_STATUS_CRASHED] = "crashed",
	[REDOMA_STATUS_BREACH] = "breach",
};

const char *redoma_status_name(enum redoma_status s)
{
	size_t n = sizeof status_names / sizeof *status_names;

	return (size_t)s < n ? status_names[s] : "unknown";
}

struct redoma_result *result_new(void)
{
	return calloc(1, sizeof(struct redoma_result));
}

void result_denials_free(struct result_denial *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(d[i].path);
		free(d[i].allow);
		free(d[i].why);
	}
	free(d);
}

void result_calls_free(struct result_call *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(c[i].tool);
		free(c[i].error);
	}
	free(c);
}

void redoma_result_free(struct redoma_result *r)
{
	size_t i;

	if (!r)
		return;
	result_denials_free(r->denials, r->n_denials);
	result_calls_free(r->calls, r->n_calls);
	for (i = 0; i < r->n_files; i++)
		free(r->files[i].path);
	free(r->files);
	buf_done(&r->value);
	buf_done(&r->out);
	buf_done(&r->err);
	buf_done(&r->name);
	buf_done(&r->message);
	buf_done(&r->stack);
	buf_done(&r->json);
	free(r);
}

enum redoma_status redoma_result_status(const struct redoma_result *r)
{
	return r->status;
}

int redoma_result_exit_code(const struct redoma_result *r)
{
	return r->exit_code;
}

static const char *bytes(const struct buf *b, uint64_t *ret_len)
{
	if (ret_len)
		*ret_len = b->len;
	return b->len ? b->data : NULL;
}

const char *redoma_result_value(const struct redoma_result *r,
				uint64_t *ret_len)
{
	return bytes(&r->value, ret_len);
}

const void *redoma_result_stdout(const struct redoma_result *r,
				 uint64_t *ret_len)
{
	return bytes(&r->out, ret_len);
}

const void *redoma_result_stderr(const struct redoma_result *r,
				 uint64_t *ret_len)
{
	return bytes(&r->err, ret_len);
}

static void put(struct json_writer *w, const char *key, const struct buf *b)
{
	if (!b->len)
		return;
	json_write_key(w, key);
	json_write_string(w, b->data, b->len);
}

static void put_u64(struct json_writer *w, const char *key, uint64_t n)
{
	json_write_key(w, key);
	json_write_u64(w, n);
}

static void put_text(struct json_writer *w, const char *key, const char *s)
{
	json_write_key(w, key);
	json_write_text(w, s);
}

static void put_bool(struct json_writer *w, const char *key, bool b)
{
	json_write_key(w, key);
	json_write_bool(w, b);
}

static void put_error(struct json_writer *w, const struct redoma_result *r)
{
	if (!r->message.len && !r->name.len)
		return;
	json_write_key(w, "error");
	json_write_begin(w, '{');
	put(w, "name", &r->name);
	put(w, "message", &r->message);
	put(w, "stack", &r->stack);
	if (r->line) {
		put_u64(w, "line", r->line);
		put_u64(w, "column", r->column);
	}
	json_write_end(w, '}');
}

static void put_limit(struct json_writer *w, const struct redoma_result *r)
{
	if (!r->limit_name)
		return;
	json_write_key(w, "limit");
	json_write_begin(w, '{');
	put_text(w, "name", r->limit_name);
	if (r->limit_value[0])
		put_text(w, "value", r->limit_value);
	if (r->limit_used[0])
		put_text(w, "used", r->limit_used);
	put_text(w, "hint", r->limit_hint);
	json_write_end(w, '}');
}

/* What has no name among files: a line there is for two, none for sockets. */
static void put_source(struct json_writer *w, const char *op)
{
	if (!strcmp(op, "clock"))
		put_text(w, "allow", "clock: real");
	else if (!strcmp(op, "random"))
		put_text(w, "allow", "random: real");
}

/* A directory is granted by a name that ends in a slash. */
static int print_allow(const struct result_denial *d, struct buf *line)
{
	CLEANUP(buf_done) struct buf path = {0};
	struct str name = {d->path, d->path_len};

	if (!strcmp(d->op, "tool"))
		return tools_print_allow((struct str){d->path, d->path_len},
					 POLICY_UNSET, NULL, line);
	if (strcmp(d->op, "mkdir"))
		return policy_print_allow(name, name, d->write, line);
	if (buf_add(&path, d->path, d->path_len) || buf_add(&path, "/", 1))
		return -1;
	name = (struct str){path.data, path.len};
	return policy_print_allow(name, name, d->write, line);
}

/* By its name alone: what a guest names is not looked at. */
static bool is_device(const struct result_denial *d)
{
	struct str path = {d->path, d->path_len};

	return str_starts(path, STR("/dev/")) &&
	       !str_starts(path, STR("/dev/shm/"));
}

/* Why no grant changes it; NULL: one does. */
static const char *never(const struct redoma_result *r,
			 const struct result_denial *d)
{
	if (d->allow || !strcmp(d->op, "tool"))
		return NULL;
	/* What else is told of a native program's files is what it had no more
	 * need of a grant for: no line would let it through. */
	if (r->native)
		return "only regular files are published, under names that "
		       "the host takes";
	return is_device(d) ? "a device cannot be granted, only regular files"
			    : NULL;
}

static void put_denial(struct json_writer *w, const struct redoma_result *r,
		       const struct result_denial *d)
{
	CLEANUP(buf_done) struct buf line = {0};
	bool tool = !strcmp(d->op, "tool");
	const char *final = never(r, d);

	json_write_begin(w, '{');
	put_text(w, "op", d->op);
	json_write_key(w, "path");
	json_write_string(w, d->path, d->path_len);
	put_u64(w, "count", d->count);
	if (final)
		put_text(w, "why", final);
	else if (d->path_len && r->nothing_granted && !tool)
		put_text(w, "why", "no file or directory was granted");
	if (final) {
		json_write_end(w, '}');
		return;
	}
	if (d->why)
		put_text(w, "why", d->why);
	if (d->allow)
		put_text(w, "allow", d->allow);
	else if (!d->path_len)
		put_source(w, d->op);
	else if (print_allow(d, &line))
		w->failed = true;
	else
		put(w, "allow", &line);
	json_write_end(w, '}');
}

static void put_denials(struct json_writer *w, const struct redoma_result *r)
{
	size_t i;

	if (!r->n_denials)
		return;
	json_write_key(w, "denials");
	json_write_begin(w, '[');
	for (i = 0; i < r->n_denials; i++)
		put_denial(w, r, &r->denials[i]);
	json_write_end(w, ']');
}

static void put_file(struct json_writer *w, const struct result_file *f)
{
	char hex[HASH_HEX_MAX];

	json_write_begin(w, '{');
	put_text(w, "path", f->path);
	put_u64(w, "bytes", f->bytes);
	if (f->published)
		put_text(w, "sha256", hash_hex(f->sha256, HASH_BYTES, hex));
	put_bool(w, "published", f->published);
	if (f->why[0])
		put_text(w, "why", f->why);
	json_write_end(w, '}');
}

static void put_files(struct json_writer *w, const struct redoma_result *r)
{
	size_t i;

	if (!r->n_files)
		return;
	json_write_key(w, "files");
	json_write_begin(w, '[');
	for (i = 0; i < r->n_files; i++)
		put_file(w, &r->files[i]);
	json_write_end(w, ']');
}

static void put_calls(struct json_writer *w, const struct redoma_result *r)
{
	if (!r->n_calls)
		return;
	json_write_key(w, "calls");
	json_write_begin(w, '[');
	for (size_t i = 0; i < r->n_calls; i++) {
		const struct result_call *c = &r->calls[i];

		json_write_begin(w, '{');
		put_text(w, "tool", c->tool);
		json_write_key(w, "ms");
		json_write_double(w, (double)c->us / 1000);
		put_bool(w, "ok", c->ok);
		if (c->error)
			put_text(w, "error", c->error);
		json_write_end(w, '}');
	}
	json_write_end(w, ']');
}

static void put_usage(struct json_writer *w, const struct result_usage *u)
{
	json_write_key(w, "usage");
	json_write_begin(w, '{');
	put_u64(w, "wall_us", u->wall_us);
	put_u64(w, "cpu_us", u->cpu_us);
	put_u64(w, "queue_us", u->queue_us);
	put_u64(w, "reset_us", u->reset_us);
	put_u64(w, "page_faults", u->page_faults);
	if (u->has_verify)
		put_u64(w, "reset_wrong", u->reset_wrong);
	if (u->has_fuel)
		put_u64(w, "fuel", u->fuel);
	put_u64(w, "memory_bytes", u->memory_bytes);
	put_u64(w, "read_bytes", u->read_bytes);
	put_u64(w, "written_bytes", u->written_bytes);
	put_bool(w, "cold", u->cold);
	if (u->cached)
		put_bool(w, "cached", true);
	json_write_end(w, '}');
}

static const char *state_text(const struct spawn_ready *s, int control,
			      char *room, size_t size)
{
	if (s->state[control] == JAIL_NOT_REQUESTED)
		return "not requested";
	if (s->state[control] != JAIL_ENFORCED)
		return "unavailable";
	if (control != JAIL_LANDLOCK)
		return "enforced";
	snprintf(room, size, "enforced (abi %d)", s->landlock_abi);
	return room;
}

/* Namespaces are one line to a reader: the weakest of them speaks. */
static int weakest_namespace(const struct spawn_ready *s)
{
	int c;

	for (c = JAIL_USER; c < JAIL_CGROUPNS; c++)
		if (s->state[c] != JAIL_ENFORCED)
			return c;
	return JAIL_CGROUPNS;
}

/* Nor are capabilities gone where an exec may bring them back. */
static int weakest_of_caps(const struct spawn_ready *s)
{
	return s->state[JAIL_CAPS] == JAIL_ENFORCED ? JAIL_NNP : JAIL_CAPS;
}

static void put_walls(struct json_writer *w, const struct redoma_result *r)
{
	const struct spawn_ready *s = &r->walls;
	char room[40];

	if (!s->abi)
		return;
	json_write_key(w, "walls");
	json_write_begin(w, '{');
	if (!r->native) {
		put_text(w, "wasm", s->engine);
		put_text(w, "reset", s->fast_reset ? "scan" : "copy");
	}
	if (r->native)
		put_text(w, "proc", s->no_proc ? "none" : "own");
	json_write_key(w, "kernel");
	json_write_begin(w, '{');
	put_text(w, "seccomp", state_text(s, JAIL_SECCOMP, room, sizeof room));
	put_text(w, "landlock",
		 state_text(s, JAIL_LANDLOCK, room, sizeof room));
	put_text(w, "namespaces", state_text(s, weakest_namespace(s), room,
					     sizeof room));
	put_text(w, "caps", state_text(s, weakest_of_caps(s), room,
				       sizeof room));
	put_text(w, "rlimits", state_text(s, JAIL_RLIMITS, room, sizeof room));
	put_text(w, "cgroup", state_text(s, JAIL_CGROUP, room, sizeof room));
	json_write_end(w, '}');
	json_write_end(w, '}');
}

/* "SIGKILL"; a real-time signal has no name. */
static void put_signal(struct json_writer *w, int n)
{
	const char *abbrev = sigabbrev_np(n);
	char name[32];

	if (abbrev)
		snprintf(name, sizeof name, "SIG%s", abbrev);
	else
		snprintf(name, sizeof name, "signal %d", n);
	put_text(w, "signal", name);
}

static int print(const struct redoma_result *r, struct buf *out)
{
	struct json_writer w = {.buf = out};

	json_write_begin(&w, '{');
	put_text(&w, "id", r->id);
	put_text(&w, "status", redoma_status_name(r->status));
	json_write_key(&w, "exit_code");
	json_write_i64(&w, r->exit_code);
	if (r->signal)
		put_signal(&w, (int)r->signal);
	if (r->value.len && !r->batch) {
		json_write_key(&w, "value");
		json_write_raw(&w, r->value.data, r->value.len);
	}
	put(&w, "stdout", &r->out);
	put(&w, "stderr", &r->err);
	if (r->truncated)
		put_bool(&w, "truncated", true);
	put_error(&w, r);
	put_limit(&w, r);
	put_denials(&w, r);
	put_files(&w, r);
	put_calls(&w, r);
	put_usage(&w, &r->usage);
	put_walls(&w, r);
	put_bool(&w, "pure", r->pure);
	json_write_end(&w, '}');
	return json_write_done(&w);
}

const char *redoma_result_json(struct redoma_result *r, uint64_t *ret_len)
{
	if (!r->json.len && print(r, &r->json)) {
		buf_clear(&r->json);
		return NULL;
	}
	return bytes(&r->json, ret_len);
}

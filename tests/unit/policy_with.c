/* Command-line forms, narrowing, printing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/policy.h"

#define V "redoma: 1\n"

static void policy_cleanup(struct policy **p)
{
	policy_free(*p);
}

static struct policy *parse(const char *text)
{
	struct redoma_error err = {0};
	struct policy *p = NULL;

	if (policy_parse(text, strlen(text), "/base", &p, &err))
		fail_msg("%s\n%s", text, err.text);
	return p;
}

static struct policy *with(const struct policy *p, const char *key,
			   const char *value)
{
	struct redoma_error err = {0};
	struct policy *q = NULL;

	if (policy_with(p, key, value, "/base", &q, &err))
		fail_msg("%s %s: %s", key, value, err.text);
	return q;
}

static void assert_refused(const char *key, const char *value,
			   const char *part)
{
	CLEANUP(policy_cleanup) struct policy *p = parse(V "read: [taken]");
	struct redoma_error err = {0};
	struct policy *q = NULL;

	if (!policy_with(p, key, value, "/base", &q, &err)) {
		policy_free(q);
		fail_msg("accepted: %s %s", key, value);
	}
	if (!strstr(err.text, part))
		fail_msg("%s %s: %s lacks %s", key, value, err.text, part);
	assert_null(q);
}

static void takes_read_and_write(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse("");
	CLEANUP(policy_cleanup) struct policy *a =
		with(p, "read", "data.csv=/tmp/dataset.csv");
	CLEANUP(policy_cleanup) struct policy *b = with(a, "read", "x=y=/z");
	CLEANUP(policy_cleanup) struct policy *c = with(b, "read", "docs/");
	CLEANUP(policy_cleanup) struct policy *d =
		with(c, "write", "a:b=/out/o.md:5MiB");
	CLEANUP(policy_cleanup) struct policy *e = with(d, "write", "w/:1KiB");

	(void)state;
	assert_int_equal(p->n_grants, 0);
	assert_int_equal(e->n_grants, 5);
	assert_string_equal(e->grants[0].host, "data.csv");
	assert_string_equal(e->grants[0].guest, "/tmp/dataset.csv");
	assert_int_equal(e->grants[0].line, 0);
	assert_string_equal(e->grants[1].host, "x=y");
	assert_string_equal(e->grants[1].guest, "/z");
	assert_int_equal(e->grants[2].kind, GRANT_READ_DIR);
	assert_string_equal(e->grants[2].guest, "/docs");
	assert_string_equal(e->grants[3].host, "a:b");
	assert_true(e->grants[3].max_bytes == 5 << 20);
	assert_int_equal(e->grants[3].mode, WRITE_REPLACE);
	assert_int_equal(e->grants[4].kind, GRANT_WRITE_DIR);
	assert_int_equal(e->grants[4].mode, WRITE_CREATE);
	assert_true(e->grants[4].max_files == 1000);
}

static void keeps_the_directory_of_a_name(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse("");
	CLEANUP(policy_cleanup) struct policy *q = NULL;
	CLEANUP(policy_cleanup) struct policy *r = NULL;
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(policy_with(p, "read", "../d.csv", "/cwd", &q, NULL),
			 0);
	assert_string_equal(q->grants[0].host, "/cwd/../d.csv");
	assert_string_equal(q->grants[0].guest, "/d.csv");
	assert_int_equal(policy_with(p, "read", "/abs", "rel", &r, NULL), 0);
	assert_string_equal(r->grants[0].host, "/abs");
	policy_free(r);
	r = NULL;
	assert_int_equal(policy_with(p, "read", "x", "rel", &r, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "absolute base_dir"));
	assert_int_equal(policy_with(p, "read", "x", NULL, &r, &err),
			 REDOMA_E_INVALID);
}

static void takes_the_other_settings(void **state)
{
	static const char *const rows[][2] = {
		{"env", "A=1"}, {"env", "A=2=3"}, {"env", "B="},
		{"limit", "memory=64MiB"}, {"limit", "wall=3s"},
		{"limit", "cpu=1s"}, {"limit", "wall=5s"},
		{"clock", "none"}, {"random", "seed:7"}, {"reuse", "tenant"},
		{"walls", "cgroup,landlock"}, {"on_denied", "end"},
		{"allow", "GET https://x/a"}, {"allow", "GET https://x/b"},
		{"tool", "search"}, {"tool", "pay"}, {"tool", "search"},
	};
	struct policy *p = parse("");

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct policy *q = with(p, rows[i][0], rows[i][1]);

		policy_free(p);
		p = q;
	}
	assert_string_equal(p->env[0], "A=2=3");
	assert_string_equal(p->env[1], "B=");
	assert_null(p->env[2]);
	assert_true(p->limits.memory_bytes == 64 << 20);
	assert_true(p->limits.wall_us == 5000000);
	assert_true(p->limits.cpu_us == 1000000);
	assert_int_equal(p->clock, SOURCE_NONE);
	assert_true(p->random == SOURCE_FIXED && p->random_seed == 7);
	assert_true(p->reuse_tenant && p->end_on_denied);
	assert_int_equal(p->may_lack, 1u << 12 | 1u << 9);
	assert_int_equal(p->n_later, 1);
	assert_string_equal(p->later[0].text, "[{allow: \"GET https://x/a\"}, "
					      "{allow: \"GET https://x/b\"}]");
	assert_int_equal(p->n_tools, 2);
	assert_string_equal(p->tools[0].name, "search");
	assert_string_equal(p->tools[1].name, "pay");
	policy_free(p);
}

static void refuses_bad_settings(void **state)
{
	(void)state;
	assert_refused("raed", "x", "did you mean \"read\"");
	assert_refused("zzz", "x", "known are: read");
	assert_refused("read", "", "name is empty");
	assert_refused("read", "=/x", "name is empty");
	assert_refused("read", "x=", "name is empty");
	assert_refused("read", "x=y", "begin it with /");
	assert_refused("read", "other=/taken", "already by line 2");
	assert_refused("read", "a\nb", "control character");
	assert_refused("read", "a\xff", "not UTF-8");
	assert_refused("write", "x", "no size");
	assert_refused("write", "x:", "not a size");
	assert_refused("write", "x:5", "needs a unit");
	assert_refused("write", "x:0MiB", "zero");
	assert_refused("write", ":5MiB", "name is empty");
	assert_refused("env", "A", "NAME=VALUE");
	assert_refused("env", "=x", "not a name");
	assert_refused("env", "A=\xff", "not UTF-8");
	assert_refused("limit", "memory", "NAME=VALUE");
	assert_refused("limit", "memroy=1MiB", "did you mean \"memory\"");
	assert_refused("limit", "memory=0", "zero");
	assert_refused("limit", "memory=64", "needs a unit");
	assert_refused("limit", "memory=-1MiB", "negative");
	assert_refused("limit", "wall=99999999999999999999s", "too large");
	assert_refused("walls", "", "unknown word");
	assert_refused("walls", "cgroup,,pid", "unknown word");
	assert_refused("walls", "none", "one of: user");
	assert_refused("clock", "x", "real, none");
	assert_refused("allow", "https://x/", "a method");
	assert_refused("tool", "", "one word");
	assert_refused("tool", "x=cmd", "grants a name");
}

static void assert_wider(const char *outer, const char *inner,
			 const char *part)
{
	CLEANUP(policy_cleanup) struct policy *o = parse(outer);
	CLEANUP(policy_cleanup) struct policy *i = parse(inner);
	struct redoma_error err = {0};
	int e = policy_contains(o, i, &err);

	if (e != REDOMA_E_DENIED || !strstr(err.text, part))
		fail_msg("outer:\n%s\ninner:\n%s\n%d %s lacks %s", outer, inner,
			 e, err.text, part);
	assert_int_equal(policy_contains(i, i, &err), 0);
	assert_int_equal(policy_contains(o, o, &err), 0);
}

static void assert_within(const char *outer, const char *inner)
{
	CLEANUP(policy_cleanup) struct policy *o = parse(outer);
	CLEANUP(policy_cleanup) struct policy *i = parse(inner);
	struct redoma_error err = {0};

	if (policy_contains(o, i, &err))
		fail_msg("outer:\n%s\ninner:\n%s\n%s", outer, inner, err.text);
}

static void narrows_limits(void **state)
{
	(void)state;
	assert_within("", "");
	assert_wider(V "limits: {wall: 2s}", V "limits: {wall: 10s}",
		     "limits.wall: 10s is more than the policy's 2s");
	assert_wider(V "limits: {wall: 2s}", "", "limits.wall: 10s");
	assert_within(V "limits: {wall: 20s}", "");
	assert_wider(V "limits: {cpu: 1s}", V "limits: {wall: 5s}",
		     "limits.cpu: 5s is more");
	assert_wider(V "limits: {memory: 1MiB}", V "limits: {memory: 2MiB}",
		     "limits.memory: 2MiB is more than the policy's 1MiB");
	assert_wider(V "limits: {output: 1B}", V "limits: {output: 2B}",
		     "limits.output");
	assert_wider(V "limits: {calls: 1}", V "limits: {calls: 2}",
		     "limits.calls");
	assert_wider(V "limits: {in_flight: 1}", V "limits: {in_flight: 2}",
		     "limits.in_flight");
	assert_wider(V "limits: {files: 1}", V "limits: {files: 2}",
		     "limits.files");
	assert_wider(V "limits: {fuel: 5}", "", "limits.fuel: \"not counted\"");
	assert_wider(V "limits: {fuel: 5}", V "limits: {fuel: 6}",
		     "limits.fuel: 6");
	assert_within("", V "limits: {fuel: 6}");
}

static void narrows_read_grants(void **state)
{
	(void)state;
	assert_within(V "read: [a, b]", V "read: [b]");
	assert_within(V "read: [a]", V "read: [./a, ]");
	assert_within(V "read: [a]", V "read: [{host: /base/a, as: /a}]");
	assert_wider(V "read: [a]", V "read: [b]", "does not grant it");
	assert_wider(V "read: [a]", V "read: [ab]", "does not grant it");
	assert_wider(V "read: [a]", V "read: [a/]", "does not grant it");
	assert_wider(V "read: [a/]", V "read: [a]", "does not grant it");
	assert_wider(V "read: [a]", V "read: [{host: a, as: /b}]",
		     "does not grant it");
	assert_within(V "read: [d/]", V "read: [d/x, d/e/]");
	assert_within(V "read: [{host: d/, as: /data/}]",
		      V "read: [{host: d/x/y, as: /data/x/y}]");
	assert_wider(V "read: [{host: d/, as: /data/}]", V "read: [d/x]",
		     "does not grant it");
	assert_wider(V "read: [d/]", V "read: [{host: d/x, follow: true}]",
		     "follow is wider");
	assert_wider(V "read: [d/]", V "read: [{host: d/../e, as: /d/e}]",
		     "does not grant it");
	assert_wider(V "read: [d/]",
		     V "read: [{host: d/x/../y, as: /d/x/y}]",
		     "does not grant it");
	assert_within(V "read: [../d]", V "read: [../d]");
	assert_within(V "read: [../d/]", V "read: [../d/x]");
	assert_wider(V "read: [{host: d/, follow: true}]",
		     V "read: [{host: d/x, follow: true}]", "follow is wider");
	assert_within(V "read: [{host: d/, follow: true}]",
		      V "read: [{host: d/, follow: true}]");
	assert_within(V "read: [{host: a, follow: true}]", V "read: [a]");
	assert_wider(V "read: [a]", V "read: [{host: a, follow: true}]",
		     "follow is wider");
	assert_wider(V "read: [{host: a, max_bytes: 5B}]", V "read: [a]",
		     "max_bytes is wider");
	assert_wider(V "read: [{host: a, opens: 1}]",
		     V "read: [{host: a, opens: 2}]", "opens is wider");
	assert_wider(V "read: [{host: a, bytes: 5-9}]",
		     V "read: [{host: a, bytes: 4-9}]", "bytes is wider");
	assert_wider(V "read: [{host: a, bytes: 5-9}]",
		     V "read: [{host: a, bytes: 5-}]", "bytes is wider");
	assert_within(V "read: [{host: a, bytes: 5-9}]",
		      V "read: [{host: a, bytes: 6-8}]");
	assert_wider(V "read: [d/]", V "write: [{host: d/x, max_bytes: 1B}]",
		     "does not grant it");
	assert_wider(V "write: [{host: d/, max_bytes: 1B}]", V "read: [d/x]",
		     "does not grant it");
	assert_within(V "read: [a/, b/]", V "read: [a/x, a/y, b/x]");
}

#define DIGEST_A "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
		 "aaaaaaaa'"
#define DIGEST_B "'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" \
		 "bbbbbbbb'"

static void narrows_digests(void **state)
{
	(void)state;
	assert_within(V "read: [a]",
		      V "read: [{host: a, sha256: " DIGEST_A "}]");
	assert_wider(V "read: [{host: a, sha256: " DIGEST_A "}]", V "read: [a]",
		     "sha256 is wider");
	assert_wider(V "read: [{host: a, sha256: " DIGEST_A "}]",
		     V "read: [{host: a, sha256: " DIGEST_B "}]",
		     "sha256 is wider");
}

static void narrows_write_grants(void **state)
{
	static const char dir[] = V
		"write: [{host: o/, max_bytes: 10B, max_files: 2}]";
	static const char halves[] = V
		"write: [{host: o/a, max_bytes: 5B, mode: create}, "
		"{host: o/b, max_bytes: 5B, mode: create}]";

	(void)state;
	assert_within(dir, halves);
	assert_wider(dir, V "write: [{host: o/a, max_bytes: 6B, mode: create}, "
			    "{host: o/b, max_bytes: 5B, mode: create}]",
		     "\"/o/b\": max_bytes is wider");
	assert_wider(dir, V "write: [{host: o/a, max_bytes: 1B, mode: create}, "
			    "{host: o/b, max_bytes: 1B, mode: create}, "
			    "{host: o/c, max_bytes: 1B, mode: create}]",
		     "\"/o/c\": max_files is wider");
	assert_wider(dir, V "write: [{host: o/, max_bytes: 10B, max_files: 3}]",
		     "max_files is wider");
	assert_wider(dir, V "write: [{host: o/a, max_bytes: 1B}]",
		     "mode is wider");
	assert_within(V "write: [{host: a, max_bytes: 2B}]",
		      V "write: [{host: a, max_bytes: 1B, mode: append}]");
	assert_wider(V "write: [{host: a, max_bytes: 2B, mode: create}]",
		     V "write: [{host: a, max_bytes: 2B}]", "mode is wider");
	assert_wider(V "write: [{host: a, max_bytes: 2B}]",
		     V "write: [{host: a, max_bytes: 3B}]",
		     "max_bytes is wider");
}

/* The second is within the first, and not the reverse. */
static const char *const wheres[][2] = {
	{"{maximum: 5}", "{maximum: 4.5}"},
	{"{maximum: 9007199254740993}", "{maximum: 9007199254740992}"},
	{"{minimum: -1}", "{minimum: 0}"},
	{"{exclusiveMaximum: 5}", "{exclusiveMaximum: 4}"},
	{"{maxLength: 5}", "{maxLength: 4}"},
	{"{enum: [a, b]}", "{enum: [b]}"},
	{"{enum: [1, \"1\"]}", "{const: \"1\"}"},
	{"{type: [string, number]}", "{type: string}"},
	{"{items: {maximum: 5}}", "{items: {maximum: 5, minimum: 1}}"},
	{"{type: string}", "{type: string, maxLength: 3}"},
};

static void narrows_the_rest(void **state)
{
	(void)state;
	assert_within(V "env: {A: x, B: y}", V "env: {B: y}");
	assert_wider(V "env: {A: x}", V "env: {B: x}", "env \"B\"");
	assert_wider(V "env: {A: x}", V "env: {A: y}", "another value");
	assert_wider("", V "env: {A: x}", "env \"A\"");
	assert_within("", V "clock: none");
	assert_within("", V "clock: fixed:2026-01-01T00:00:00Z");
	assert_wider(V "clock: none", "", "clock: real is more");
	assert_wider(V "clock: fixed:2026-01-01T00:00:00Z",
		     V "clock: fixed:2026-01-01T00:00:01Z",
		     "clock: fixed:2026-01-01T00:00:01Z is more");
	assert_wider(V "random: none", V "random: seed:1", "random: seed:1");
	assert_wider(V "random: seed:1", V "random: seed:2", "random: seed:2");
	assert_within(V "random: seed:1", V "random: none");
	assert_wider(V "on_denied: end", "", "on_denied");
	assert_within("", V "on_denied: end");
	assert_wider(V "walls: [pid]", V "walls: [pid, seccomp]",
		     "requires seccomp");
	assert_within(V "walls: [pid]", "");
	assert_wider("", V "reuse: tenant", "reuse");
	assert_within(V "reuse: tenant", "");
	assert_wider("", V "tools: [x]", "tools");
	assert_wider(V "tools: [x]", V "tools: [y]", "tools");
	assert_within(V "tools: [x]", V "tools: [x]");
	assert_within(V "tools: [x]", "");
	assert_within(V "tools: [x]", V "tools: [{name: x, max_calls: 1}]");
	assert_wider(V "tools: [{name: x, max_calls: 1}]", V "tools: [x]",
		     "max_calls");
	assert_wider(V "tools: [{name: x, where: {a: {maximum: 5}}}]",
		     V "tools: [x]", "where");
	assert_within(V "tools: [x]",
		      V "tools: [{name: x, where: {a: {maximum: 5}}}]");
	for (size_t i = 0; i < sizeof wheres / sizeof *wheres; i++) {
		char a[200], b[200];

		snprintf(a, sizeof a, V "tools: [{name: x, where: {a: %s}}]",
			 wheres[i][0]);
		snprintf(b, sizeof b, V "tools: [{name: x, where: {a: %s}}]",
			 wheres[i][1]);
		assert_within(a, a);
		assert_within(a, b);
		assert_wider(b, a, "where");
	}
}

static char *print(const struct policy *p)
{
	CLEANUP(buf_done) struct buf b = {0};

	assert_int_equal(policy_print(p, &b), 0);
	return buf_take(&b);
}

static void assert_round_trip(const char *text)
{
	CLEANUP(policy_cleanup) struct policy *p = parse(text);
	CLEANUP_FREE char *a = print(p);
	CLEANUP(policy_cleanup) struct policy *q = parse(a);
	CLEANUP_FREE char *b = print(q);
	struct redoma_error err = {0};

	assert_string_equal(a, b);
	if (policy_contains(p, q, &err) || policy_contains(q, p, &err))
		fail_msg("%s\n%s", a, err.text);
	assert_int_equal(p->cpu_set, q->cpu_set);
}

static void prints_what_it_reads(void **state)
{
	static const char *const texts[] = {
		"",
		V "limits: {wall: 1500ms, cpu: 1m, fuel: 9, memory: 3MiB, "
		  "output: 1000B, calls: 1, in_flight: 1, files: 1}",
		V "read: [a, /b c, \"q\\\"\\\\\", \"d: #x/\", \"-\", \"~\", "
		  "\"\\u00e9\", \"\\uffff\", \"\\ufeff\", \"null\", \"1\"]",
		V "read: [{host: a, bytes: 0-0}, {host: b, bytes: 7-}, "
		  "{host: c, opens: 2, max_bytes: 1025B, follow: true}]",
		V "read: [{host: a, sha256: " DIGEST_A "}]",
		V "write: [{host: a, max_bytes: 1B, mode: append}, "
		  "{host: d/, max_bytes: 1GiB, mode: replace}]",
		V "env: {A: \"\", B: \"x\\ny\\t\\e\\x85\", C: \"null\", "
		  "n: '{}', \"yes\": no, D: \"\\u2028\\uFFFE\"}",
		V "clock: fixed:1970-01-01T00:00:00.000000001Z\n"
		  "random: seed:18446744073709551615",
		V "clock: none\nrandom: none\non_denied: end\nreuse: tenant\n"
		  "walls: [user, cgroup]",
		V "net: [{allow: GET http://x/, header: {\"a: b\": \"c, d\"}}]",
		V "tools: [a, {name: \"true\", where: {x: {enum: [null, ~, "
		  "true, \"true\", 1, \"1\", -1.5e3, \"\", a b]}}}]",
		V "native: {root: [\"runtime:x\", /usr]}",
		("{\"redoma\":1,\"tools\":[{\"name\":\"a\",\"where\":"
		 "{\"k\\u0001\":{\"maximum\":1e400}}}]}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_round_trip(texts[i]);
}

static void keeps_text_apart_from_numbers(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse(
		V "tools: [{name: a, where: {x: {enum: [\"1\", 1, \"true\", "
		  "true, 'null', ~, \"-1\", -1, \"a\", '', \"a b\"]}}}]");

	(void)state;
	assert_string_equal(where_text(p->tools[0].where),
			    "{x: {enum: [\"1\", 1, "
			    "\"true\", true, \"null\", null, \"-1\", -1, "
			    "a, \"\", \"a b\"]}}");
}

static void prints_every_default(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse("");
	CLEANUP_FREE char *text = print(p);

	(void)state;
	assert_string_equal(text,
			    "redoma: 1\nlimits:\n  wall: 10s\n"
			    "  # cpu: 10s, as wall\n  # fuel: not counted\n"
			    "  memory: 128MiB\n  output: 1MiB\n"
			    "  calls: 256 # takes effect with tools only\n"
			    "  in_flight: 32 # takes effect with tools only\n"
			    "  files: 64\n"
			    "read: []\nwrite: []\nenv: {}\nclock: real\n"
			    "random: real\nnet: []\ntools: []\n"
			    "native: {root: [], tmp: 64MiB, pids: 32}\n"
			    "on_denied: error\nwalls: required\nreuse: never\n");
}

static void advice_cannot_be_forged(void **state)
{
	static const char *const paths[] = {
		"/etc/passwd", "/x\"]\nwrite: [{host: \"/", "/\xff\xfe",
		"/\x1b[2J", "/a\\", "",
	};
	CLEANUP(buf_done) struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		buf_clear(&b);
		assert_int_equal(policy_print_allow(str_of(paths[i]),
						    str_of(paths[i]), i % 2,
						    &b), 0);
		assert_true(str_is_plain((struct str){b.data, b.len}));
	}
	buf_clear(&b);
	assert_int_equal(policy_print_allow(STR("in"), STR("/d/in"), false, &b),
			 0);
	assert_string_equal(b.data, "read: [{host: \"in\", as: \"/d/in\"}]");
	buf_clear(&b);
	assert_int_equal(policy_print_allow(STR("/o\0\"x"), STR("/o"), true,
					    &b), 0);
	assert_string_equal(b.data, "write: [{host: \"/o\\u0000\\\"x\", "
				    "as: \"/o\", max_bytes: 1MiB}]");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, V), 0);
	assert_int_equal(policy_print_allow(STR("/o"), STR("/o"), true, &b), 0);
	policy_free(parse(b.data));
}

static void advice_on_a_bound(void **state)
{
	static const struct {
		enum grant_kind kind;
		const char *op, *text;
	} row[] = {
		{GRANT_READ_FILE, "read",
		 "read: [{host: \"a\\\"]\", as: \"/g\"}]"},
		{GRANT_WRITE_FILE, "write",
		 "write: [{host: \"a\\\"]\", as: \"/g\", max_bytes: 2MiB}]"},
		{GRANT_WRITE_DIR, "create",
		 "write: [{host: \"a\\\"]\", as: \"/g\", max_bytes: 1MiB, "
		 "max_files: 6}]"},
	};
	struct plan_grant g = {.guest = (char *)"/g",
			       .max_bytes = 1 << 20,
			       .max_files = 3};
	CLEANUP(buf_done) struct buf b = {0};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		buf_clear(&b);
		g.kind = row[i].kind;
		assert_int_equal(policy_print_more(&g,
						   &(struct policy_want){
							   "a\"]", row[i].op,
							   0},
						   &b),
				 0);
		assert_string_equal(b.data, row[i].text);
	}
	buf_clear(&b);
	g.max_files = UINT64_MAX;
	assert_int_equal(policy_print_more(&g,
					   &(struct policy_want){
						   "a/", "create", 1ull << 40},
					   &b),
			 0);
	assert_non_null(strstr(b.data, "max_files: 18446744073709551615}]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_read_and_write),
		cmocka_unit_test(keeps_the_directory_of_a_name),
		cmocka_unit_test(takes_the_other_settings),
		cmocka_unit_test(refuses_bad_settings),
		cmocka_unit_test(narrows_limits),
		cmocka_unit_test(narrows_read_grants),
		cmocka_unit_test(narrows_digests),
		cmocka_unit_test(narrows_write_grants),
		cmocka_unit_test(narrows_the_rest),
		cmocka_unit_test(prints_what_it_reads),
		cmocka_unit_test(keeps_text_apart_from_numbers),
		cmocka_unit_test(prints_every_default),
		cmocka_unit_test(advice_cannot_be_forged),
		cmocka_unit_test(advice_on_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

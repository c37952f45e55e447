/* Policy text in, values or one sentence out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
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

/* The text is refused; the sentence holds both parts. */
static void assert_says_n(const char *text, size_t len, const char *where,
			  const char *what)
{
	struct redoma_error err = {0};
	struct policy *p = NULL;
	int e = policy_parse(text, len, "/base", &p, &err);

	if (!e) {
		policy_free(p);
		fail_msg("accepted: %s", text);
	}
	assert_int_equal(e, REDOMA_E_INVALID);
	assert_int_equal(err.code, REDOMA_E_INVALID);
	assert_null(p);
	if (!strstr(err.text, where) || !strstr(err.text, what))
		fail_msg("%s\nsays: %s\nlacks: %s / %s", text, err.text, where,
			 what);
}

static void assert_says(const char *text, const char *where, const char *what)
{
	assert_says_n(text, strlen(text), where, what);
}

static void denies_by_default(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse("");

	(void)state;
	assert_true(p->limits.wall_us == 10000000);
	assert_true(p->limits.cpu_us == 10000000 && !p->cpu_set);
	assert_true(p->limits.fuel == 0);
	assert_true(p->limits.memory_bytes == 128 << 20);
	assert_true(p->limits.output_bytes == 1 << 20);
	assert_true(p->limits.calls == 256 && p->limits.in_flight == 32);
	assert_true(p->limits.files == 64);
	assert_int_equal(p->n_grants, 0);
	assert_int_equal(p->n_later, 0);
	assert_null(p->env[0]);
	assert_int_equal(p->clock, SOURCE_REAL);
	assert_int_equal(p->random, SOURCE_REAL);
	assert_false(p->end_on_denied || p->reuse_tenant || p->may_lack);
	assert_string_equal(p->base_dir, "/base");
}

static void reads_every_key(void **state)
{
	static const char text[] = V
		"limits:\n  wall: 2s\n  cpu: 500ms\n  fuel: 5_000_000_000\n"
		"  memory: 64MiB\n  output: 64KiB\n  calls: 7\n  in_flight: 8\n"
		"  files: 9\n"
		"read:\n  - /tmp/dataset.csv\n"
		"  - host: reports/q3.csv\n    as: /data//./q3.csv\n"
		"    sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
		"10ff61f20015AD\n    max_bytes: 2GiB\n    bytes: 5-1048575\n"
		"    follow: true\n    opens: 3\n"
		"  - {host: docs/, as: /docs/}\n"
		"write:\n  - host: out/report.md\n    as: /out/report.md\n"
		"    max_bytes: 5MiB\n    mode: append\n"
		"  - host: out/charts/\n    max_bytes: 50MiB\n"
		"    max_files: 100\n"
		"env: {TZ: America/Sao_Paulo, EMPTY: \"\", N: 5, Y: yes}\n"
		"clock: fixed:2026-01-01T00:00:00Z\nrandom: seed:42\n"
		"on_denied: end\nwalls: [cgroup, seccomp]\nreuse: tenant\n";
	CLEANUP(policy_cleanup) struct policy *p = parse(text);
	const struct grant *g = p->grants;

	(void)state;
	assert_true(p->limits.wall_us == 2000000);
	assert_true(p->limits.cpu_us == 500000 && p->cpu_set);
	assert_true(p->limits.fuel == 5000000000);
	assert_true(p->limits.memory_bytes == 64 << 20);
	assert_true(p->limits.output_bytes == 64 << 10);
	assert_true(p->limits.calls == 7 && p->limits.in_flight == 8);
	assert_true(p->limits.files == 9);
	assert_int_equal(p->n_grants, 5);
	assert_int_equal(g[0].kind, GRANT_READ_FILE);
	assert_string_equal(g[0].host, "/tmp/dataset.csv");
	assert_string_equal(g[0].guest, "/tmp/dataset.csv");
	assert_false(g[0].follow || g[0].has_sha256);
	assert_true(g[0].max_bytes == POLICY_UNSET);
	assert_true(g[0].first == 0 && g[0].last == POLICY_UNSET);
	assert_true(g[0].opens == POLICY_UNSET);
	assert_int_equal(g[0].line, 12);
	assert_string_equal(g[1].host, "reports/q3.csv");
	assert_string_equal(g[1].guest, "/data/q3.csv");
	assert_true(g[1].has_sha256 && g[1].sha256[0] == 0xba &&
		    g[1].sha256[31] == 0xad);
	assert_true(g[1].max_bytes == (uint64_t)2 << 30);
	assert_true(g[1].first == 5 && g[1].last == 1048575);
	assert_true(g[1].follow && g[1].opens == 3);
	assert_int_equal(g[2].kind, GRANT_READ_DIR);
	assert_string_equal(g[2].guest, "/docs");
	assert_int_equal(g[3].kind, GRANT_WRITE_FILE);
	assert_int_equal(g[3].mode, WRITE_APPEND);
	assert_true(g[3].max_bytes == 5 << 20);
	assert_int_equal(g[4].kind, GRANT_WRITE_DIR);
	assert_int_equal(g[4].mode, WRITE_CREATE);
	assert_string_equal(g[4].guest, "/out/charts");
	assert_true(g[4].max_files == 100);
	assert_string_equal(p->env[0], "TZ=America/Sao_Paulo");
	assert_string_equal(p->env[1], "EMPTY=");
	assert_string_equal(p->env[2], "N=5");
	assert_string_equal(p->env[3], "Y=yes");
	assert_null(p->env[4]);
	assert_int_equal(p->clock, SOURCE_FIXED);
	assert_true(p->clock_fixed_ns == INT64_C(1767225600) * 1000000000);
	assert_int_equal(p->random, SOURCE_FIXED);
	assert_true(p->random_seed == 42);
	assert_true(p->end_on_denied && p->reuse_tenant);
	assert_int_equal(p->may_lack, 1u << 12 | 1u << 11);
}

static void reads_json_the_same(void **state)
{
	static const char text[] =
		" {\"redoma\": 1, \"limits\": {\"wall\": \"2s\", \"calls\": 7},\n"
		"\t\"read\": [\"/a\", {\"host\": \"\\u00e9/\", \"as\": \"/b\"}],"
		"\"env\": {\"A\": \"x\\ny\"}, \"walls\": [\"cgroup\"]}";
	CLEANUP(policy_cleanup) struct policy *p = parse(text);

	(void)state;
	assert_true(p->limits.wall_us == 2000000 && p->limits.calls == 7);
	assert_int_equal(p->n_grants, 2);
	assert_string_equal(p->grants[1].host, "\xc3\xa9/");
	assert_int_equal(p->grants[1].line, 2);
	assert_string_equal(p->env[0], "A=x\ny");
	assert_int_equal(p->may_lack, 1u << 12);
	assert_says("{\"redoma\": 1,\n \"limts\": {}}", "line 2 column 3",
		    "did you mean \"limits\"");
	assert_says("{\"redoma\": 1, \"limits\": {\"wall\":\n \"0s\"}}",
		    "line 2 column 3", "zero");
	assert_says("{\"redoma\": 1,}", "line 1", "read as JSON");
	assert_says("{redoma: 1}", "line 1", "read as JSON");
	assert_says("{\"redoma\": 1, \"redoma\": 1}", "line 1 column 16",
		    "twice");
	assert_says("{\"redoma\": 1, \"read\": [\"a\\u0000b\"]}", "read",
		    "NUL");
}

static void chooses_names_inside(void **state)
{
	static const char *const rows[][2] = {
		{"data.csv", "/data.csv"}, {"./a/b.csv", "/a/b.csv"},
		{"../up.csv", "/up.csv"}, {"../../x/../y", "/y"},
		{"a//b", "/a/b"}, {"/abs/./x", "/abs/x"}, {"docs/", "/docs"},
		{"/", "/"}, {"./", "/"}, {"...", "/..."}, {".hidden", "/.hidden"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[128];

		snprintf(text, sizeof text, V "read: [\"%s\"]", rows[i][0]);
		{
			CLEANUP(policy_cleanup) struct policy *p = parse(text);

			assert_string_equal(p->grants[0].guest, rows[i][1]);
			assert_string_equal(p->grants[0].host, rows[i][0]);
		}
	}
}

static void wants_the_format_version(void **state)
{
	(void)state;
	assert_says("limits: {}", "", "redoma: 1");
	assert_says(" ", "", "redoma: 1");
	assert_says("# nothing\n", "", "redoma: 1");
	assert_says("redoma: 2", "line 1 column 9", "not a format");
	assert_says("redoma:", "line 1", "no value");
	assert_says("redoma: [1]", "line 1", "a list");
	assert_says("- redoma: 1", "line 1", "keys and values");
	assert_says("hello", "line 1", "keys and values");
}

static void refuses_unknown_keys(void **state)
{
	(void)state;
	assert_says(V "limts: {}", "line 2 column 1",
		    "did you mean \"limits\"?");
	assert_says(V "limits: {memroy: 1MiB}", "line 2 column 10",
		    "did you mean \"memory\"?");
	assert_says(V "read: [{host: a, fllow: true}]", "line 2 column 18",
		    "did you mean \"follow\"?");
	assert_says(V "read: [{host: a, mode: replace}]", "line 2",
		    "known are: host, as, sha256");
	assert_says(V "write: [{host: a, max_byte: 1B}]", "line 2",
		    "did you mean \"max_bytes\"?");
	assert_says(V "net: [{alow: GET https://x/}]", "line 2",
		    "did you mean \"allow\"?");
	assert_says(V "tools: [{nam: x}]", "line 2", "did you mean \"name\"?");
	assert_says(V "native: {pid: 1}", "line 2", "did you mean \"pids\"?");
	assert_says(V "zzz: 1", "line 2", "known are: redoma, limits");
	assert_says(V "\"\\e[2J\": 1", "line 2", "\\x1b[2J");
}

static void refuses_bad_limits(void **state)
{
	(void)state;
	assert_says(V "limits: {wall: 0s}", "limits.wall \"0s\"", "zero");
	assert_says(V "limits: {wall: -1s}", "limits.wall", "negative");
	assert_says(V "limits: {wall: 2}", "limits.wall", "needs a unit");
	assert_says(V "limits: {wall: 2d}", "limits.wall", "unknown unit");
	assert_says(V "limits: {wall: 25_000m}", "limits.wall", "1ms to 1440m");
	assert_says(V "limits: {cpu: 99999999999999999999s}", "limits.cpu",
		    "too large");
	assert_says(V "limits: {memory: 1023KiB}", "limits.memory",
		    "1MiB to 4GiB");
	assert_says(V "limits: {memory: 5GiB}", "limits.memory", "1MiB to 4GiB");
	assert_says(V "limits: {output: 1GiB}", "limits.output", "1B to 256MiB");
	assert_says(V "limits: {fuel: 0}", "limits.fuel", "zero");
	assert_says(V "limits: {fuel: 1e9}", "limits.fuel", "no unit");
	assert_says(V "limits: {fuel: 9223372036854775808}", "limits.fuel",
		    "out of range");
	assert_says(V "limits: {calls: 1000000001}", "limits.calls",
		    "1 to 1000000000");
	assert_says(V "limits: {in_flight: 4097}", "limits.in_flight", "4096");
	assert_says(V "limits: {files: 65537}", "limits.files", "65536");
	assert_says(V "limits: {files: }", "limits.files", "no value");
	assert_says(V "limits: {files: [1]}", "limits.files", "a list");
	assert_says(V "limits: []", "limits", "a list");
	assert_says(V "limits: {wall: 1s, wall: 2s}", "line 2 column 20",
		    "line 2");
}

static void cpu_follows_wall(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p =
		parse(V "limits: {wall: 3s}");

	(void)state;
	assert_true(p->limits.cpu_us == 3000000 && !p->cpu_set);
}

static void refuses_bad_read_grants(void **state)
{
	(void)state;
	assert_says(V "read: /a", "line 2", "write a list");
	assert_says(V "read: [{as: /a}]", "line 2", "without \"host:\"");
	assert_says(V "read: [\"\"]", "line 2", "name is empty");
	assert_says(V "read: [~]", "line 2", "no value");
	assert_says(V "read: [\"a\\0b\"]", "line 2", "NUL");
	assert_says(V "read: [\"a\\nb\"]", "line 2", "control character");
	assert_says(V "read: [\"a\\Nb\"]", "line 2", "control character");
	assert_says(V "read: [{host: a, as: b}]", "line 2", "begin it with /");
	assert_says(V "read: [{host: a, as: /x/../y}]", "line 2", "\"..\"");
	assert_says(V "read: [{host: a, as: /..}]", "line 2", "\"..\"");
	assert_says(V "read: [{host: a, as: \"\"}]", "line 2", "empty");
	assert_says(V "read: [{host: a, as: /}]", "line 2", "end host in /");
	assert_says(V "read: [{host: a, as: /.}]", "line 2",
		    "needs a name inside");
	assert_says(V "read: [.]", "line 2", "needs a name inside");
	assert_says(V "read: [{host: a, as: /b/}]", "line 2", "end host in /");
	assert_says(V "read: [{host: a, sha256: 12}]", "line 2",
		    "64 hexadecimal");
	assert_says(V "read: [{host: a, bytes: 5}]", "line 2", "not a range");
	assert_says(V "read: [{host: a, bytes: 9-5}]", "line 2",
		    "before it begins");
	assert_says(V "read: [{host: a, bytes: -5}]", "line 2", "not a range");
	assert_says(V "read: [{host: a, bytes: 0-9223372036854775808}]",
		    "line 2", "no file is that long");
	assert_says(V "read: [{host: a, bytes: 0-99999999999999999999}]",
		    "line 2", "not a range");
	assert_says(V "read: [{host: a/, bytes: 0-1}]", "line 2",
		    "is a directory; bytes");
	assert_says(V "read: [{host: a, follow: yes}]", "line 2",
		    "true or false");
	assert_says(V "read: [{host: a, follow: \"true\"}]", "line 2",
		    "true or false");
	assert_says(V "read: [{host: a, opens: 0}]", "line 2", "zero");
	assert_says(V "read: [{host: a, max_bytes: 5}]", "line 2",
		    "needs a unit");
	assert_says(V "read: [{host: a, max_bytes: 1048577GiB}]", "line 2",
		    "out of range");
	assert_says(V "read: [[a]]", "line 2", "a read entry is a list");
	assert_says(V "read:\n- a\n- {host: b, as: /a}", "line 4 column 3",
		    "already by line 3");
}

static void open_ranges_run_to_the_end(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p =
		parse(V "read: [{host: a, bytes: 100-}]");

	(void)state;
	assert_true(p->grants[0].first == 100);
	assert_true(p->grants[0].last == POLICY_UNSET);
}

static void refuses_bad_write_grants(void **state)
{
	(void)state;
	assert_says(V "write: [a]", "line 2", "no max_bytes");
	assert_says(V "write: [{host: a, max_bytes: 0B}]", "line 2", "zero");
	assert_says(V "write: [{host: a, max_bytes: 1B, max_files: 2}]",
		    "line 2", "is one file");
	assert_says(V "write: [{host: a/, max_bytes: 1B, mode: append}]",
		    "line 2", "for files");
	assert_says(V "write: [{host: a, max_bytes: 1B, mode: replac}]",
		    "line 2", "did you mean \"replace\"");
	assert_says(V "write: [{host: a, max_bytes: 1B, mode: x}]", "line 2",
		    "one of: replace, append, create");
	assert_says(V "write:\n- {host: a, max_bytes: 1B}\n"
		      "- {host: b, as: /a, max_bytes: 1B}", "line 4",
		    "already by line 3");
}

static void refuses_names_of_two_kinds(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse(
		V "read: [d/, {host: x, as: /d/x}, f]\n"
		  "write: [{host: f, max_bytes: 1B}, {host: d/, max_bytes: 1B}]");

	(void)state;
	assert_int_equal(p->n_grants, 5);
	assert_says(V "read: [a, {host: b, as: /a/b}]", "line 2",
		    "needs a directory");
	assert_says(V "read: [{host: b, as: /a/b}, a]", "line 2",
		    "needs a directory");
	assert_says(V "read: [a]\nwrite: [{host: a/, max_bytes: 1B}]", "line 3",
		    "or the reverse");
}

static void caps_the_number_of_grants(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};

	(void)state;
	assert_int_equal(buf_addf(&b, V "read:\n"), 0);
	for (int i = 0; i < PLAN_GRANTS_MAX; i++)
		assert_int_equal(buf_addf(&b, "- f%d\n", i), 0);
	policy_free(parse(b.data));
	assert_int_equal(buf_addf(&b, "- one_more\n"), 0);
	assert_says(b.data, "line 259", "more than 256 grants");
}

static void refuses_bad_variables(void **state)
{
	(void)state;
	assert_says(V "env: [A]", "line 2", "not a map");
	assert_says(V "env: {1A: x}", "line 2 column 7", "not a name");
	assert_says(V "env: {\"\": x}", "line 2", "not a name");
	assert_says(V "env: {A=B: x}", "line 2", "not a name");
	assert_says(V "env: {A: }", "line 2", "\"\" for an empty one");
	assert_says(V "env: {A: [x]}", "line 2", "one value");
	assert_says(V "env: {A: {secret: X}}", "line 2", "never sees");
	assert_says(V "env: {A: \"x\\0y\"}", "line 2", "NUL");
	assert_says(V "env: {A: x, A: y}", "line 2 column 13", "line 2");
}

static void reads_times_and_seeds(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:01.5Z", 1500000000},
		{"2000-02-29T12:00:00Z", INT64_C(951825600000000000)},
		{"2100-03-01T00:00:00Z", INT64_C(4107542400000000000)},
		{"2026-11-30T07:29:43.000000001Z",
		 INT64_C(1796023783000000001)},
		{"2262-04-11T23:47:14Z", INT64_C(9223372034000000000)},
	};
	static const char *const bad[] = {
		"2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
		"2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
		"2026-01-01T00:00:00", "2026-01-01T00:00:00+02:00",
		"2026-01-01", "2026-01-01 00:00:00Z", "1969-12-31T23:59:59Z",
		"2262-04-11T23:47:17Z", "9999-01-01T00:00:00Z",
		"2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z",
		"", "Z", "tomorrow",
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		snprintf(text, sizeof text, V "clock: fixed:%s", rows[i].text);
		{
			CLEANUP(policy_cleanup) struct policy *p = parse(text);

			assert_true(p->clock_fixed_ns == rows[i].ns);
		}
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, V "clock: \"fixed:%s\"", bad[i]);
		assert_says(text, "line 2", "clock");
	}
	assert_says(V "clock: now", "line 2", "real, none or fixed:");
	assert_says(V "random: seed:x", "line 2", "not a number");
	assert_says(V "random: seed:-1", "line 2", "negative");
	assert_says(V "random: 4", "line 2", "real, none or seed:42");
}

static void checks_the_other_words(void **state)
{
	(void)state;
	assert_says(V "on_denied: stop", "line 2", "one of: error, end");
	assert_says(V "reuse: always", "line 2", "one of: never, tenant");
	assert_says(V "reuse: tenat", "line 2", "did you mean \"tenant\"");
	assert_says(V "walls: none", "line 2", "required");
	assert_says(V "walls: [secomp]", "line 2", "did you mean \"seccomp\"");
}

static void checks_what_comes_later(void **state)
{
	CLEANUP(policy_cleanup) struct policy *p = parse(V
		"net:\n- allow: GET https://api.example.com/v1/*\n"
		"  header: {Authorization: {secret: TOKEN}, X-A: b}\n"
		"  max_bytes: 10MiB\n"
		"tools: [search, {name: pay, max_calls: 1, where: {a: {maximum: 1}}}]\n"
		"native: {root: [runtime:node, /usr], tmp: 64MiB, pids: 32}\n");
	CLEANUP(policy_cleanup) struct policy *none =
		parse(V "net: []\ntools: []\nnative: {}");

	(void)state;
	assert_int_equal(p->n_later, 1);
	assert_string_equal(p->later[0].key, "net");
	assert_int_equal(p->n_tools, 2);
	assert_string_equal(p->tools[0].name, "search");
	assert_true(p->tools[0].max_calls == POLICY_UNSET);
	assert_null(p->tools[0].where);
	assert_int_equal(p->tools[1].max_calls, 1);
	assert_string_equal(where_text(p->tools[1].where),
			    "{a: {maximum: 1}}");
	assert_string_equal(p->native.roots[0], "runtime:node");
	assert_string_equal(p->native.roots[1], "/usr");
	assert_null(p->native.roots[2]);
	assert_int_equal(p->native.tmp_bytes, 64 << 20);
	assert_int_equal(p->native.pids, 32);
	assert_int_equal(none->n_later + none->n_tools, 0);
	assert_says(V "net: [GET https://x/]", "line 2", "a net entry");
	assert_says(V "net: [{max_bytes: 1B}]", "line 2", "without \"allow:\"");
	assert_says(V "net: [{allow: https://x/}]", "line 2",
		    "a method and a URL");
	assert_says(V "net: [{allow: get https://x/}]", "line 2", "capitals");
	assert_says(V "net: [{allow: GET ftp://x/}]", "line 2", "https://");
	assert_says(V "net: [{allow: GET https:///x}]", "line 2", "no host");
	assert_says(V "net: [{allow: GET https://x/, header: {A: {sec: B}}}]",
		    "line 2", "secret: NAME");
	assert_says(V "net: [{allow: GET https://x/, max_bytes: 1}]", "line 2",
		    "needs a unit");
	assert_says(V "tools: [{max_calls: 1}]", "line 2", "without \"name:\"");
	assert_says(V "tools: [a b]", "line 2", "one word");
	assert_says(V "tools: [{name: a, max_calls: 0}]", "line 2", "zero");
	assert_says(V "tools: [{name: a, where: {b: 1}}]", "line 2",
		    "JSON Schema");
	assert_says(V "tools: [a, {name: a}]", "line 2", "granted twice");
	assert_says(V "tools: [{name: a, where: {b: {}}}]", "line 2",
		    "JSON Schema");
	assert_says(V "tools: [{name: a, where: {b: {pattern: x}}}]", "line 2",
		    "pattern\" is not checked");
	assert_says(V "tools: [{name: a, where: {b: {maximum: x}}}]", "line 2",
		    "a number");
	assert_says(V "tools: [{name: a, where: {b: {maximum: \"1\"}}}]",
		    "line 2", "a number");
	assert_says(V "tools: [{name: a, where: {b: {maxLength: 1.5}}}]",
		    "line 2", "whole");
	assert_says(V "tools: [{name: a, where: {b: {enum: []}}}]", "line 2",
		    "enum");
	assert_says(V "tools: [{name: a, where: {b: {enum: [[]]}}}]", "line 2",
		    "can be compared");
	assert_says(V "tools: [{name: a, where: {b: {enum: [1], const: 2}}}]",
		    "line 2", "together");
	assert_says(V "tools: [{name: a, where: {b: {type: int}}}]", "line 2",
		    "integer");
	assert_says(V "native: {root: node}", "line 2", "write a list");
	assert_says(V "native: {root: [\"runtime:\"]}", "line 2",
		    "runtime:node");
	assert_says(V "native: {tmp: 64}", "line 2", "needs a unit");
	assert_says(V "native: {pids: none}", "line 2", "not a number");
	assert_says(V "native: {pids: 5000}", "line 2", "over 4096");
	assert_says(V "native: {root: [\"oci:\"]}", "line 2", "oci:image");
}

static void reads_a_subset_of_yaml(void **state)
{
	(void)state;
	assert_says(V "read: &a [x]", "line 2 column 7", "anchors");
	assert_says(V "read: [&a x]", "line 2", "anchors");
	assert_says(V "read: [*a]", "line 2 column 8", "aliases");
	assert_says(V "read: !!seq [x]", "line 2", "tags");
	assert_says(V "read: [!x y]", "line 2", "tags");
	assert_says(V "<<: {a: b}", "line 2", "merge keys");
	assert_says(V "? [a]\n: b", "line 2", "a key must be");
	assert_says(V "? {a: b}\n: b", "line 2", "a key must be");
	assert_says(V "redoma: 1", "line 2 column 1", "line 1");
	assert_says(V "---\nredoma: 1", "line 2", "second document");
	assert_says("%YAML 1.1\n---\nredoma: 1", "line", "directives");
	assert_says("%TAG ! x\n---\nredoma: 1", "line", "directives");
	assert_says(V "limits:\n\twall: 2s", "line 3", "tab");
	assert_says(V "read: [a", "line", "is not closed");
	assert_says(V "clock: a: b", "line 2", "second \": \"");
	assert_says(V "read: [\"a]", "line 2", "not closed");
	assert_says(V "limits: {wall: 2s}}", "line 2", "");
	policy_free(parse("---\nredoma: 1\n...\n"));
	policy_free(parse("\"redoma\": '1' # comment\n"));
	policy_free(parse("redoma: 1\r\nlimits:\r\n  wall: 2s\r\n"));
}

static void refuses_bytes_that_are_no_text(void **state)
{
	static const char nul[] = V "clock: real\0\n";

	(void)state;
	assert_says_n(nul, sizeof nul - 1, "line 2 column 12", "control");
	assert_says(V "read: [\xff]", "line 2 column 8", "not UTF-8");
	assert_says(V "read: [\xc3]", "line 2 column 8", "not UTF-8");
	assert_says(V "# \x1b[2J", "line 2 column 3", "control");
	assert_says("\xff\xfe" "r\0e\0", "line 1 column 1", "not UTF-8");
}

static void caps_size_and_depth(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	CLEANUP_FREE char *big = malloc((1 << 20) + 2);

	(void)state;
	memset(big, '#', (1 << 20) + 1);
	big[(1 << 20) + 1] = '\0';
	assert_says(big, "", "at most 1 MiB");
	big[1 << 20] = '\0';
	assert_says(big, "", "redoma: 1");
	assert_int_equal(buf_addf(&b, V "tools: "), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(buf_add(&b, "[", 1), 0);
	assert_says(b.data, "line 2 column 39", "deeper than 32");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, "{\"redoma\":1,\"tools\":"), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(buf_add(&b, "[", 1), 0);
	for (int i = 0; i < 40; i++)
		assert_int_equal(buf_add(&b, "]", 1), 0);
	assert_int_equal(buf_addf(&b, "}"), 0);
	assert_says(b.data, "line 1", "deeper than 32");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, V "tools: ["), 0);
	for (int i = 0; i < 70000; i++)
		assert_int_equal(buf_add(&b, "a,", 2), 0);
	assert_int_equal(buf_addf(&b, "]"), 0);
	assert_says(b.data, "line 2", "65536 entries");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, V "env:\n"), 0);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(buf_addf(&b, " A%d: x\n", i), 0);
	assert_says(b.data, "line 4099", "4096 keys");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, V "env:\n"), 0);
	for (int i = 0; i < 1025; i++)
		assert_int_equal(buf_addf(&b, " A%d: x\n", i), 0);
	assert_says(b.data, "line 1027", "1024 variables");
	buf_clear(&b);
	assert_int_equal(buf_addf(&b, V "env: {%0129d: x}", 0), 0);
	assert_says(b.data, "line 2", "128 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denies_by_default),
		cmocka_unit_test(reads_every_key),
		cmocka_unit_test(reads_json_the_same),
		cmocka_unit_test(chooses_names_inside),
		cmocka_unit_test(wants_the_format_version),
		cmocka_unit_test(refuses_unknown_keys),
		cmocka_unit_test(refuses_bad_limits),
		cmocka_unit_test(cpu_follows_wall),
		cmocka_unit_test(refuses_bad_read_grants),
		cmocka_unit_test(open_ranges_run_to_the_end),
		cmocka_unit_test(refuses_bad_write_grants),
		cmocka_unit_test(refuses_names_of_two_kinds),
		cmocka_unit_test(caps_the_number_of_grants),
		cmocka_unit_test(refuses_bad_variables),
		cmocka_unit_test(reads_times_and_seeds),
		cmocka_unit_test(checks_the_other_words),
		cmocka_unit_test(checks_what_comes_later),
		cmocka_unit_test(reads_a_subset_of_yaml),
		cmocka_unit_test(refuses_bytes_that_are_no_text),
		cmocka_unit_test(caps_size_and_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

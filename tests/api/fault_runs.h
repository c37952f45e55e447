/* Runs of every kind for the tests in which something fails in the middle: what
 * must hold afterwards is the same whatever failed. */
#ifndef API_FAULT_RUNS_H
#define API_FAULT_RUNS_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <redoma.h>

#define USED __attribute__((unused))
#define UNTOUCHED ((void *)16) /* what an output held before the call */
#define SOON_S 4.0 /* no failure keeps a call for longer */

/* (module (func (export "_start"))) */
static const unsigned char empty_module[] =
	"\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0"
	"\7\x0a\1\6_start\0\0\x0a\4\1\2\0\x0b";

struct kind {
	const char *name;
	const char *policy;
	const char *narrow; /* or NULL */
	const char *language;
	const void *source;
	size_t len;
	enum redoma_status status;
	const char *value;
	const char *in_json[3]; /* is in the whole result */
	bool out;	/* writes "text" to the files out and dir/sub/new */
	bool asks;	/* calls tools: their answers may meet the fault */
	bool single;
	bool warm;	/* a run has come before */
	bool keeps;	/* compiled modules are kept: by an earlier handle */
	bool fresh;	/* compiled modules are kept, none is there */
};

#define JS(code) .language = "js", .source = (code), .len = sizeof(code) - 1
#define WASM(bytes)                                                          \
	.language = "wasm", .source = (bytes), .len = sizeof(bytes) - 1

static const struct kind kinds[] = {
	{.name = "a value", .policy = "redoma: 1\nenv: {A: b}\n",
	 .narrow = "redoma: 1\nenv: {A: b}\nlimits: {wall: 4s}\n",
	 JS("input.a * 2"), .value = "42"},
	{.name = "a value, alone", .policy = "redoma: 1\n", .single = true,
	 JS("'y'.repeat(70000).length"), .value = "70000"},
	{.name = "a value, again", .policy = "redoma: 1\nreuse: tenant\n",
	 .warm = true, JS("console.log('x'.repeat(5000)); 3"), .value = "3",
	 .in_json = {"xxxx"}},
	{.name = "an error", .policy = "redoma: 1\nread: [in]\n",
	 JS("const fs = require('fs');"
	    "try { fs.readFileSync('/secret') } catch {}"
	    "try { fs.mkdirSync('/d/e') } catch {}"
	    "throw new Error(fs.readFileSync('/in', 'utf8'))"),
	 .status = REDOMA_STATUS_ERROR,
	 .in_json = {"input of a run", "read: [", "\"mkdir\""}},
	{.name = "files",
	 .policy = "redoma: 1\nread: [in, {host: in, as: /cut, bytes: 0-4, "
		   "opens: 3}]\nwrite:\n- {host: out, max_bytes: 99B}\n"
		   "- {host: dir/, max_bytes: 99B}\n",
	 JS("const fs = require('fs');"
	    "fs.writeFileSync('/out', 'text');"
	    "fs.mkdirSync('/dir/sub');"
	    "fs.writeFileSync('/dir/sub/new', 'text');"
	    "fs.readFileSync('/cut', 'utf8')"),
	 .value = "\"input\"", .out = true,
	 .in_json = {"\"sha256\"", "/dir/sub/new"}},
	{.name = "tools",
	 .policy = "redoma: 1\ntools: [a, {name: b, where: {n: {maximum: 1}}}]\n",
	 .asks = true,
	 JS("const no = async (p) => { try { await p } catch (e) {"
	    " if (e.message === 'out of memory') throw e; return e.name } };"
	    "[...await Promise.all([tools.a({x: 1}), tools.a({})]),"
	    " await no(tools.b({n: 2})), await no(tools.c()),"
	    " await no(tools.b({n: 1}))]"),
	 .value = "[1,1,\"ToolDenied\",\"ToolDenied\",\"Spent\"]",
	 .in_json = {"\"calls\":[{\"tool\":\"a\"", "tools: [\\\"c\\\"]",
		     "Spent: all of it"}},
	{.name = "a module", .policy = "redoma: 1\n", WASM(empty_module)},
	{.name = "a module, kept from now on", .policy = "redoma: 1\n",
	 .fresh = true, WASM(empty_module)},
	{.name = "a module that was kept", .policy = "redoma: 1\n",
	 .keeps = true, WASM(empty_module)},
	{.name = "no module", .policy = "redoma: 1\n",
	 WASM("\0asm\1\0\0\0\1\4\1\x60\0\1"),
	 .status = REDOMA_STATUS_INVALID, .in_json = {"\"Invalid\""}},
};

static char place[200]; /* a folder of ours */

static USED const char *in_place(const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", place, name);
	return path;
}

static void put_text(const char *name, const char *text)
{
	char path[256];
	FILE *f = fopen(in_place(name, path), "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static bool holds(const char *name, const char *text)
{
	char path[256], got[64];
	int fd = open(in_place(name, path), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, got, sizeof got);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && !memcmp(got, text, (size_t)n);
}

static bool is_there(const char *name)
{
	char path[256];

	return !access(in_place(name, path), F_OK);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_all(const char *name)
{
	char path[256];

	nftw(in_place(name, path), remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int make_place(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char path[256];

	(void)state;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	snprintf(place, sizeof place, "%s/redoma-fault-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(place));
	put_text("in", "input of a run");
	assert_int_equal(mkdir(in_place("dir", path), 0700), 0);
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	remove_all(".");
	return 0;
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* The living below us, whoever made them: what is orphaned comes to us. */
static int living(void)
{
	char path[64], list[4096], *at, *save = NULL;
	int n = 0;
	FILE *f;

	while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
		;
	snprintf(path, sizeof path, "/proc/self/task/%d/children",
		 (int)getpid());
	f = fopen(path, "re");
	assert_non_null(f);
	list[fread(list, 1, sizeof list - 1, f)] = '\0';
	fclose(f);
	for (at = strtok_r(list, " ", &save); at;
	     at = strtok_r(NULL, " ", &save))
		n++;
	return n;
}

static void assert_nobody(void)
{
	const struct timespec pause = {.tv_nsec = 5000000};

	for (int i = 0; living() && i < 400; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(living(), 0);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static USED struct redoma_policy *policy_of(const char *text)
{
	struct redoma_policy *p = NULL;
	struct redoma_error err = {0};

	if (redoma_policy_parse(text, strlen(text), place, &p, &err))
		fail_msg("%s", err.text);
	return p;
}

static struct redoma *open_kind(const struct kind *k)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = policy_of(k->policy);
	struct redoma_error err = {0};
	struct redoma *h = NULL;
	char cache[256];

	o.install_dir = TEST_BUILD;
	/* A name that is a file: nothing is kept. */
	o.cache_dir = in_place(k->keeps || k->fresh ? "cache" : "in", cache);
	o.single = k->single;
	o.warm = 1;
	if (redoma_open(p, &o, &h, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return h;
}

/* A caller who is short of memory still answers: with a failure. */
static void answer_kind(void *data, struct redoma_call *c)
{
	(void)data;
	if (!strcmp(redoma_call_tool(c), "b") ||
	    redoma_answer(c, "1", 1, NULL))
		assert_int_equal(redoma_answer_error(c, "Spent", "all of it",
						     NULL),
				 0);
}

static int run_kind(struct redoma *h, const struct kind *k,
		    const struct redoma_policy *narrow,
		    struct redoma_result **ret, struct redoma_error *err)
{
	static const char *const argv[] = {"one", "two", NULL};
	struct redoma_request q = REDOMA_REQUEST_INIT;

	q.language = k->language;
	q.source = k->source;
	q.source_len = k->len;
	q.narrow = narrow;
	q.argv = argv;
	q.input = "{\"a\": 21}";
	q.input_len = 9;
	q.on_call = answer_kind;
	return redoma_run(h, &q, ret, err);
}

static USED void clean_outputs(void)
{
	remove_all("out");
	remove_all("dir/sub");
}

/* A result without a fault, or in spite of one. */
static void assert_whole(const struct kind *k, struct redoma_result *x)
{
	const char *json = redoma_result_json(x, NULL);
	const char *value = redoma_result_value(x, NULL);

	assert_non_null(json);
	if (redoma_result_status(x) != k->status)
		fail_msg("%s: %s", k->name, json);
	if (k->value && (!value || strcmp(value, k->value)))
		fail_msg("%s: the value is %s", k->name, json);
	for (int i = 0; i < 3 && k->in_json[i]; i++)
		if (!strstr(json, k->in_json[i]))
			fail_msg("%s: %s is not in %s", k->name, k->in_json[i],
				 json);
	if (k->out)
		assert_true(holds("out", "text") &&
			    holds("dir/sub/new", "text"));
}

/* The guest, or the place of its files, met the fault: a result says so. */
static void assert_told(const struct kind *k, struct redoma_result *x)
{
	const char *json = redoma_result_json(x, NULL);

	assert_non_null(json);
	if (redoma_result_status(x) != REDOMA_STATUS_ERROR ||
	    !strstr(json, "\"message\""))
		fail_msg("%s: %s", k->name, json);
}

/* Nothing of the run is on the host, not even under another name. */
static void assert_no_outputs(const struct kind *k)
{
	if (is_there("out") || is_there("dir/sub/new"))
		fail_msg("%s: failed and left a file", k->name);
}

/* The inode of the module that is kept, or 0.  A link of ours keeps its number
 * from being given again. */
static USED ino_t kept_module(void)
{
	char path[256], entry[600];
	DIR *d = opendir(in_place("cache", path));
	struct dirent *e;
	ino_t found = 0;

	while (d && (e = readdir(d)))
		if (strlen(e->d_name) == 64) {
			snprintf(entry, sizeof entry, "%s/%s", path, e->d_name);
			found = e->d_ino;
			(void)!link(entry, in_place("held", path));
			in_place("cache", path);
		}
	if (d)
		closedir(d);
	return found;
}

static USED void assert_next_works(struct redoma *h, const struct kind *k,
				   const struct redoma_policy *narrow)
{
	struct redoma_result *x = NULL;
	struct redoma_error err = {0};

	clean_outputs();
	if (run_kind(h, k, narrow, &x, &err))
		fail_msg("%s, the next run: %s", k->name, err.text);
	assert_whole(k, x);
	redoma_result_free(x);
}

#endif

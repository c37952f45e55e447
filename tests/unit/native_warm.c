/* Bootstrapped runtimes: started and warm before a run comes, used once.  And
 * programs that play a bootstrap and lie. */
/* test-seconds: 180 */
#include "native_core.h"

#define ROOT_BYTES 65536

static char text[2][ROOT_BYTES];

static const char *read_text(int i, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text[i], 1, ROOT_BYTES - 1, f);
	fclose(f);
	text[i][n] = '\0';
	return text[i];
}

/* A spawner whose payload is `program` with the script's text. */
static int start(struct core *k, const char *program, const char *script,
		 const char *body)
{
	struct native_item items[16];
	size_t n = sizeof core_root / sizeof *core_root;

	*k = (struct core){.setup = core_setup()};
	k->setup.bootstrap = 1;
	k->setup.memory_bytes = 1 << 30;
	snprintf(k->setup.program, sizeof k->setup.program, "%s", program);
	snprintf(k->setup.script, sizeof k->setup.script, "%s", script);
	memcpy(items, core_root, sizeof core_root);
	items[n++] = (struct native_item){NATIVE_TEXT, 0, script, body};
	return core_start_with(k, items, n);
}

static void run(struct core *k, struct core_run *r, const char *source,
		const char *input)
{
	char *argv[] = {(char *)"agent", (char *)"arg", NULL};
	char *env[] = {(char *)"LEVEL=7", NULL};

	core_run_init(r);
	r->plan.argv = argv;
	r->plan.env = env;
	r->plan.limits.memory_bytes = 512 << 20;
	r->source = source;
	r->input = input;
	r->input_len = strlen(input);
	core_run(k, r);
}

static void python(void **state)
{
	struct core_run r;
	struct core k;

	(void)state;
	if (access("/usr/bin/python3", X_OK))
		skip();
	assert_int_equal(start(&k, "/usr/bin/python3", "/redoma/bootstrap.py",
			       read_text(0, TEST_BUILD "/images/bootstrap.py")),
			 0);
	run(&k, &r, "print('hi')\ninput_data", "[1,2,3]");
	assert_true(r.has_outcome);
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, "hi\n");
	assert_memory_equal(r.value, "[1", 2);
	core_run_done(&r);
	run(&k, &r, "import os, sys\n[sys.argv, os.environ['LEVEL']]", "");
	assert_non_null(strstr(r.value, "agent"));
	assert_non_null(strstr(r.value, "\"7\""));
	core_run_done(&r);
	run(&k, &r, "x = 1\nraise ValueError('no')", "");
	assert_int_equal(r.o.status, REDOMA_STATUS_ERROR);
	assert_memory_equal(r.o.name.p, "ValueError", 10);
	assert_int_equal(r.o.line, 2);
	core_run_done(&r);
	run(&k, &r, "import os\nos._exit(5)", "");
	assert_int_equal(r.o.exit_code, 5);
	core_run_done(&r);
	run(&k, &r, "import sys\nsys.exit(4)", "");
	assert_int_equal(r.o.exit_code, 4);
	core_run_done(&r);
	run(&k, &r, "'x' * 40000", "");
	assert_int_equal(r.o.status, REDOMA_STATUS_OUTPUT_LIMIT);
	assert_int_equal(r.n_value, 0);
	core_run_done(&r);
	run(&k, &r, "import os, signal\nos.kill(os.getpid(), 11)", "");
	assert_int_equal(r.o.signal, SIGSEGV);
	core_run_done(&r);
	assert_int_equal(core_stop(&k), 0);
}

static void grants_reach_one_that_runs_already(void **state)
{
	struct core_run r;
	char got[16] = "";
	struct core k;
	int stage = memfd_create("stage", MFD_CLOEXEC);

	(void)state;
	if (access("/usr/bin/python3", X_OK))
		skip();
	assert_int_equal(start(&k, "/usr/bin/python3", "/redoma/bootstrap.py",
			       read_text(0, TEST_BUILD "/images/bootstrap.py")),
			 0);
	core_run_init(&r);
	r.plan.n_grants = 2;
	r.grants[0] = (struct plan_grant){
		.kind = GRANT_READ_FILE, .guest = (char *)"/data/in",
		.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		.max_bytes = UINT64_MAX, .last = UINT64_MAX,
		.opens = UINT64_MAX};
	r.grants[1] = (struct plan_grant){
		.kind = GRANT_WRITE_FILE, .guest = (char *)"/out/a", .fd = stage,
		.max_bytes = 1000, .max_files = 1};
	r.source = "open('/out/a', 'w').write('made')\n"
		   "open('/data/in', 'rb').read(4)[1:4].decode()";
	core_sh(&k, &r, "");
	assert_true(r.has_outcome);
	if (r.o.status != REDOMA_STATUS_OK)
		print_message("# %.*s\n", (int)r.o.message.len, r.o.message.p);
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.value, "\"ELF\"");
	assert_int_equal(r.o.n_written, 1);
	assert_int_equal(pread(stage, got, sizeof got, 0), 4);
	close(stage);
	core_run_done(&r);
	assert_int_equal(core_stop(&k), 0);
}

static void node(void **state)
{
	struct core_run r;
	struct core k;

	(void)state;
	if (access("/usr/bin/node", X_OK))
		skip();
	assert_int_equal(start(&k, "/usr/bin/node", "/redoma/bootstrap.js",
			       read_text(0, TEST_BUILD
					 "/images/bootstrap.js")),
			 0);
	run(&k, &r, "console.log('hi'); 6 * 7", "");
	assert_int_equal(r.o.status, REDOMA_STATUS_OK);
	assert_string_equal(r.out, "hi\n");
	assert_string_equal(r.value, "42");
	core_run_done(&r);
	assert_int_equal(core_stop(&k), 0);
}

/* What a shell script can say on descriptor 3. */
#define READY "printf '\\1\\0\\0\\0\\0\\0\\0\\0' >&3; "
#define HEARD "head -c 8 <&3 >/tmp/x; "

static void liar(const char *words, struct core_run *r)
{
	char script[512];
	struct core k;

	snprintf(script, sizeof script, "%s%s%s", READY, HEARD, words);
	assert_int_equal(start(&k, "/usr/bin/sh", "/redoma/liar.sh", script),
			 0);
	run(&k, r, "source", "");
	assert_int_equal(core_stop(&k), 0);
}

static void liars(void **state)
{
	static const struct {
		const char *words;
		uint32_t status;
		int exit_code;
	} rows[] = {
		/* Values that are none, or too long; garbage; nothing. */
		{"printf '\\3\\0\\0\\0\\377\\377\\377\\377' >&3; sleep 9",
		 REDOMA_STATUS_OUTPUT_LIMIT, 1},
		{"printf '\\11\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 9",
		 REDOMA_STATUS_ERROR, 1},
		{"printf '\\1\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 9",
		 REDOMA_STATUS_ERROR, 1},
		{"cat /usr/bin/sh >&3; sleep 9", REDOMA_STATUS_ERROR, 1},
		{"exec 3>&-; exit 6", REDOMA_STATUS_ERROR, 6},
		{"exec 3>&-; exit 0", REDOMA_STATUS_OK, 0},
		{"printf '\\4\\0\\0\\0\\2\\0\\0\\0{]' >&3; exit 0",
		 REDOMA_STATUS_ERROR, 1},
		{"printf '\\5\\0\\0\\0\\4\\0\\0\\0\\2\\0\\0\\0' >&3; sleep 9",
		 REDOMA_STATUS_ERROR, 2},
		{"printf '\\5\\0\\0\\0\\4\\0\\0\\0\\0\\1\\0\\0' >&3; sleep 9",
		 REDOMA_STATUS_ERROR, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct core_run r;

		liar(rows[i].words, &r);
		print_message("# %s\n", rows[i].words);
		assert_true(r.has_outcome);
		assert_int_equal(r.o.status, rows[i].status);
		assert_int_equal(r.o.exit_code, rows[i].exit_code);
		core_run_done(&r);
	}
}

/* Never ready: the core hears why, with the program's own words. */
static void never_ready(void **state)
{
	struct core k;

	(void)state;
	assert_int_equal(start(&k, "/usr/bin/sh", "/redoma/x.sh",
			       "echo 'it \033[31mbroke' >&2; exit 1"),
			 0);
	assert_null(core_take(&k));
	assert_int_equal(k.failed.code, REDOMA_E_WORKER);
	assert_non_null(strstr(k.failed.text, "broke"));
	assert_null(strchr(k.failed.text, '\033'));
	assert_int_equal(core_stop(&k), 0);
}

/* One that dies while it is parked is told as dead and made anew. */
static void dies_while_parked(void **state)
{
	struct core_slot *s;
	struct core k;
	uint32_t first;

	(void)state;
	assert_int_equal(start(&k, "/usr/bin/sh", "/redoma/x.sh",
			       READY "sleep 0.2; exit 0"),
			 0);
	s = core_take(&k);
	assert_non_null(s);
	first = s->number;
	while (!s->dead)
		assert_int_equal(core_hear(&k, CORE_WAIT_US), 0);
	s = core_take(&k);
	assert_non_null(s);
	assert_true(s->number > first);
	assert_int_equal(core_stop(&k), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python),
		cmocka_unit_test(grants_reach_one_that_runs_already),
		cmocka_unit_test(node),
		cmocka_unit_test(liars),
		cmocka_unit_test(never_ready),
		cmocka_unit_test(dies_while_parked),
	};

	if (!core_can())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

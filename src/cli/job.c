#include "cli/job.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/exits.h"
#include "cli/grants.h"
#include "cli/print.h"
#include "cli/tools.h"

const struct option job_options[] = {
	{.name = "input", .value = "JSON|@FILE|-", .words = "@file",
	 .help = "what the script sees as `input`; a module, on its stdin"},
	{.name = "stdin", .value = "TEXT|@FILE|-", .words = "@file",
	 .help = "the same as text that is no JSON: a string, read by lines"},
	{.name = "image", .value = "NAME", .words = "data py",
	 .help = "py: data, with numpy and pandas (redoma image add), or py"},
	{.name = "json", .help = "print the whole result as one JSON object"},
	{.name = "stats", .help = "add a line on time and memory to stderr"},
	{.name = "quiet", .letter = 'q',
	 .help = "only the guest's output and value"},
	{0},
};

/* What a signal handler needs; this is the program, not the library. */
static struct redoma *volatile running;
static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	struct redoma *r = running;

	(void)sig;
	if (signalled++)
		_exit(EXIT_CANCELLED);
	if (r)
		redoma_cancel(r);
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	/* A file that may not be as large (ulimit -f) is an error of the
	 * write, after which nothing is left. */
	signal(SIGXFSZ, SIG_IGN);
}

void job_watch(struct redoma *r)
{
	running = r;
	catch_signals();
}

bool job_is_cancelled(void)
{
	return signalled;
}

static void result_cleanup(struct redoma_result **r)
{
	redoma_result_free(*r);
}

static void redoma_cleanup(struct redoma **r)
{
	running = NULL;
	redoma_close(*r);
}

static void tools_cleanup(struct tools **t)
{
	tools_close(*t);
}

int job_refused(const struct args *a, const struct redoma_error *err)
{
	return print_refused(err, args_has(a, "json"));
}

static int go(const struct grants *g, const struct redoma_request *q,
	      struct redoma_result **ret, struct redoma_error *err)
{
	CLEANUP(redoma_cleanup) struct redoma *r = NULL;
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	int rc;

	o.single = 1;
	rc = redoma_open(g->policy, &o, &r, err);
	if (rc)
		return rc;
	running = r;
	if (signalled)
		return err_set(err, REDOMA_E_INVALID, "signal",
			       "cancelled before anything was started");
	return redoma_run(r, q, ret, err);
}

int job_run(const struct args *a, const struct source *s, const char *name)
{
	CLEANUP(buf_done) struct buf input = {0};
	CLEANUP(grants_done) struct grants g = {0};
	CLEANUP(result_cleanup) struct redoma_result *result = NULL;
	CLEANUP(tools_cleanup) struct tools *tools = NULL;
	const struct print_style style = {args_has(a, "json"),
					  args_has(a, "stats"),
					  args_has(a, "quiet")};
	const char *text = args_value(a, "stdin");
	const char *spec = text ? text : args_value(a, "input");
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct print_live live = {0};
	struct redoma_error err;
	int rc = 0;

	if (text && args_value(a, "input"))
		rc = err_set(&err, REDOMA_E_INVALID, "cli",
			     "--stdin and --input are two names of one thing; "
			     "give one of them");
	else if (spec)
		rc = source_input(spec, text != NULL, s->language, &input,
				  &err);
	if (!rc)
		rc = tools_open(a, style.quiet, &tools, &err);
	if (!rc)
		rc = grants_build(a, NULL, &g, &err);
	if (rc)
		return job_refused(a, &err);
	q.language = source_language_name(s->language);
	q.name = name;
	q.source = s->bytes.data;
	q.source_len = s->bytes.len;
	q.input = spec ? (input.data ? input.data : "") : NULL;
	q.input_len = input.len;
	q.argv = (const char *const *)a->rest;
	q.invoke = args_value(a, "invoke");
	q.image = args_value(a, "image");
	q.native = args_has(a, "native");
	q.narrow = g.request;
	q.on_call = tools_on_call;
	q.on_call_data = tools;
	if (!style.json) {
		q.on_output = print_live;
		q.on_output_data = &live;
	}
	if (!style.quiet)
		q.on_wait = print_wait;
	catch_signals();
	rc = go(&g, &q, &result, &err);
	tools_close(TAKE_PTR(tools));
	if (rc && signalled) {
		job_refused(a, &err);
		return EXIT_CANCELLED;
	}
	return rc ? job_refused(a, &err) : print_result(result, &style, &live);
}

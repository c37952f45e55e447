#include "cli/tools.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/print.h"
#include "cli/split.h"
#include "cli/tool_process.h"

#define FAILURE "ToolError"

struct command {
	struct str name; /* borrowed from the command line */
	char **argv;	 /* owned, one block */
	char *program;	 /* owned: what argv[0] is found as */
};

/* One call and its thread, which the next call or the end of the run joins. */
struct errand {
	struct errand *next;
	struct tools *tools;
	const struct command *command;
	struct redoma_call *call;
	pthread_t thread;
	atomic_bool over; /* it ends without delay */
};

struct tools {
	struct command *commands; /* owned */
	size_t n;
	struct errand *errands; /* the thread of redoma_run alone */
	int end_fd;
	bool quiet;
	char *env[2];
	char path[4096]; /* "PATH=..." */
};

struct str tools_name(const char *value, const char **ret_command)
{
	const char *eq = strchr(value, '=');

	*ret_command = eq ? eq + 1 : NULL;
	return eq ? (struct str){value, (size_t)(eq - value)} : str_of(value);
}

static bool is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* As a shell finds it; now, so that a mistyped one is refused at once. */
static char *find_program(const struct tools *t, const char *word)
{
	const char *at = t->path + sizeof "PATH=" - 1;
	char path[4096];

	if (strchr(word, '/'))
		return is_program(word) ? strdup(word) : NULL;
	while (*at) {
		size_t len = strcspn(at, ":");

		int n = snprintf(path, sizeof path, "%.*s/%s", (int)len, at,
				 word);

		if (len && n < (int)sizeof path && is_program(path))
			return strdup(path);
		at += len + (at[len] == ':');
	}
	return NULL;
}

static int add(struct tools *t, const char *value, struct redoma_error *err)
{
	struct command *c = &t->commands[t->n];
	const char *text;
	int r;

	c->name = tools_name(value, &text);
	if (!text)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--tool %s has no command to answer it; write "
			       "--tool %s='COMMAND ARGS'",
			       value, value);
	for (size_t i = 0; i < t->n; i++)
		if (str_equal(t->commands[i].name, c->name))
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "--tool %s is given twice; give it once",
				       SHOW(c->name));
	r = split_command(text, &c->argv, err);
	if (r)
		return r;
	t->n++;
	c->program = find_program(t, c->argv[0]);
	if (!c->program)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--tool %s: there is no program %s that can be "
			       "run",
			       SHOW(c->name), SHOW(str_of(c->argv[0])));
	c->argv[0] = c->program;
	return 0;
}

static void cleanup_tools(struct tools **t)
{
	tools_close(*t);
}

int tools_open(const struct args *a, bool quiet, struct tools **ret,
	       struct redoma_error *err)
{
	CLEANUP(cleanup_tools) struct tools *t = calloc(1, sizeof *t);
	const char *path = getenv("PATH");
	int r = 0;

	if (!t)
		return err_nomem(err, "cli");
	t->end_fd = eventfd(0, EFD_CLOEXEC);
	t->commands = calloc(a->n_given + 1, sizeof *t->commands);
	if (t->end_fd < 0 || !t->commands)
		return err_sys(err, "cli", "prepare for calls of tools");
	snprintf(t->path, sizeof t->path, "PATH=%s",
		 path && *path ? path : "/usr/bin:/bin");
	t->env[0] = t->path;
	t->quiet = quiet;
	for (size_t i = 0; i < a->n_given && !r; i++)
		if (!strcmp(a->given[i].option->name, "tool"))
			r = add(t, a->given[i].value, err);
	if (r)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

void tools_close(struct tools *t)
{
	const uint64_t one = 1;

	if (!t)
		return;
	if (t->errands && write(t->end_fd, &one, sizeof one) < 0)
		print_line("the processes of tools cannot be told to end");
	while (t->errands) {
		struct errand *e = t->errands;

		t->errands = e->next;
		pthread_join(e->thread, NULL);
		free(e);
	}
	for (size_t i = 0; i < t->n; i++) {
		free(t->commands[i].argv);
		free(t->commands[i].program);
	}
	free(t->commands);
	if (t->end_fd >= 0)
		close(t->end_fd);
	free(t);
}

static void fail(struct redoma_call *c, const char *name, const char *why)
{
	struct redoma_error err;

	/* Short of memory, when even that cannot be said, it is left open. */
	if (redoma_answer_error(c, name, why, &err))
		print_line("%s: %s", redoma_call_tool(c), err.text);
}

static const char *member(const struct json_doc *doc, const char *name)
{
	size_t len;

	return json_string(json_member(json_root(doc), name), &len);
}

/* What it printed may say why. */
static void fail_by_code(struct redoma_call *c, const struct buf *out,
			 int status)
{
	CLEANUP(json_cleanup) struct json_doc *doc = NULL;
	const char *message = NULL, *name = NULL;
	char why[80];

	if (out->len && !json_parse(out->data, out->len, &doc, NULL)) {
		message = member(doc, "message");
		name = member(doc, "name");
	}
	if (WIFSIGNALED(status))
		snprintf(why, sizeof why, "its command was ended by signal %d",
			 WTERMSIG(status));
	else
		snprintf(why, sizeof why, "its command ended with code %d",
			 WEXITSTATUS(status));
	fail(c, name ? name : FAILURE, message ? message : why);
}

static void answer(struct redoma_call *c, const struct buf *out)
{
	struct redoma_error err;
	const char *json = out->len ? out->data : "null";

	if (redoma_answer(c, json, out->len ? out->len : 4, &err))
		fail(c, FAILURE, "its command printed no JSON value");
}

static void show_noise(const struct errand *e, const struct buf *noise)
{
	const char *at = noise->data, *end = at + noise->len;

	while (!e->tools->quiet && at < end) {
		size_t len = strcspn(at, "\n");

		print_line("tool %s: %.*s", redoma_call_tool(e->call), (int)len,
			   at);
		at += len + 1;
	}
}

static void *run(void *data)
{
	struct errand *e = data;
	CLEANUP(buf_done) struct buf out = {0};
	CLEANUP(buf_done) struct buf noise = {0};
	uint64_t len;
	struct tool_process p = {.argv = e->command->argv,
				 .env = e->tools->env,
				 .in = redoma_call_args(e->call, &len),
				 .end_fd = e->tools->end_fd};
	enum tool_ending ending = TOOL_ENDED;
	struct redoma_error err;
	int status = 0, r;

	p.in_len = len;
	r = tool_process_run(&p, &out, &noise, &ending, &status, &err);
	if (noise.len)
		show_noise(e, &noise);
	if (r)
		fail(e->call, FAILURE, "its command cannot be started");
	else if (ending == TOOL_SLOW)
		fail(e->call, FAILURE, "its command did not end in 30 s");
	else if (ending == TOOL_LOUD)
		fail(e->call, FAILURE, "its command printed over 1 MiB");
	else if (ending == TOOL_CANCELLED)
		fail(e->call, FAILURE, "the run has ended");
	else if (status)
		fail_by_code(e->call, &out, status);
	else
		answer(e->call, &out);
	atomic_store(&e->over, true);
	return NULL;
}

/* Signals are for the thread that runs. */
static int start(struct errand *e)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

/* The stack of a thread that has ended stays until it is joined. */
static void join_ended(struct tools *t)
{
	struct errand **at = &t->errands;

	while (*at) {
		struct errand *e = *at;

		if (!atomic_load(&e->over)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		pthread_join(e->thread, NULL);
		free(e);
	}
}

void tools_on_call(void *tools, struct redoma_call *c)
{
	struct tools *t = tools;
	struct str name = str_of(redoma_call_tool(c));
	struct errand *e;
	size_t i = 0;

	join_ended(t);
	while (i < t->n && !str_equal(t->commands[i].name, name))
		i++;
	if (i == t->n) {
		fail(c, FAILURE, "the policy grants it, and no --tool says "
		     "which command answers it");
		return;
	}
	e = calloc(1, sizeof *e);
	if (!e) {
		fail(c, FAILURE, "there is no memory for its command");
		return;
	}
	*e = (struct errand){.next = t->errands,
			     .tools = t,
			     .command = &t->commands[i],
			     .call = c};
	if (start(e)) {
		free(e);
		fail(c, FAILURE, "no thread can be made for its command");
		return;
	}
	t->errands = e;
}

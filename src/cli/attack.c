#include "cli/attack.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "cli/help.h"
#include "cli/print.h"

#define LEFT 9 /* columns before what explains a row */

struct report {
	struct attack_tally tally;
	bool json;
	struct buf text;
	struct json_writer writer; /* on text */
	size_t done;
	bool failed; /* out of memory */
};

/* This is the program, not the library.  The first signal ends it after the
 * attack that is running; the third at once: timeout(1) sends two. */
static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	(void)sig;
	if (signalled++ > 1)
		_exit(EXIT_CANCELLED);
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

void attack_count(struct attack_tally *t, const struct attack_verdict *v)
{
	t->n[v->result]++;
	t->unclear += v->unclear;
}

enum cli_exit attack_exit(const struct attack_tally *t, bool lacks_control)
{
	if (t->n[ATTACK_SUCCEEDED])
		return EXIT_BREACH;
	if (t->unclear)
		return EXIT_INTERNAL;
	if (lacks_control)
		return EXIT_SANDBOX;
	return t->n[ATTACK_STOPPED] ? EXIT_OK : EXIT_INTERNAL;
}

int attack_add_row(struct buf *b, const struct attack_row *row,
		   const struct attack_verdict *v)
{
	int rc = buf_addf(b, "  %-6s %-43s ", attack_profile_name(row->profile),
			  row->title);

	if (rc)
		return rc;
	if (v->result == ATTACK_STOPPED)
		return buf_addf(b, "%-8s %.17s\n", v->wall, v->detail);
	rc = buf_addf(b, "%s\n", v->result == ATTACK_SUCCEEDED ? "SUCCEEDED"
							       : "skipped");
	return rc ? rc : help_add_filled(b, v->detail, LEFT);
}

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_text(w, value);
}

void attack_put_row(struct json_writer *w, const struct attack_row *row,
		    const struct attack_verdict *v)
{
	json_write_begin(w, '{');
	put(w, "name", row->name);
	put(w, "profile", attack_profile_name(row->profile));
	put(w, "title", row->title);
	put(w, "result", attack_result_name(v->result));
	put(w, "wall", v->wall);
	put(w, "detail", v->detail);
	json_write_end(w, '}');
}

static void show_progress(const struct report *r, const struct attack_row *row)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K%zu of %zu: %s: %s", r->done,
			attack_rows_n, attack_profile_name(row->profile),
			row->title);
}

static void end_progress(void)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K");
}

static int heard(void *data, const struct attack_row *row,
		 const struct attack_verdict *v)
{
	struct report *r = data;

	/* A run that was cut short by what ends us too says nothing. */
	if (signalled && v->result != ATTACK_SUCCEEDED)
		return 1;
	r->done++;
	attack_count(&r->tally, v);
	if (r->json)
		attack_put_row(&r->writer, row, v);
	else if (attack_add_row(&r->text, row, v))
		r->failed = true;
	show_progress(r, row);
	return signalled;
}

/* Each member of a control is a text. */
static bool put_controls(struct json_writer *w, const struct json_value *all)
{
	struct json_iter it = json_iter(all);
	bool lacks = false;
	size_t len;

	json_write_key(w, "controls");
	json_write_begin(w, '[');
	while (json_next(&it)) {
		struct json_iter m = json_iter(it.value);
		const char *state = json_string(
			json_member(it.value, "state"), &len);

		lacks = lacks || (state && !strcmp(state, "unavailable"));
		json_write_begin(w, '{');
		while (json_next(&m))
			put(w, json_string(m.key, &len),
			    json_string(m.value, &len));
		json_write_end(w, '}');
	}
	json_write_end(w, ']');
	return lacks;
}

static bool begin(struct report *r, const struct json_value *findings,
		  const struct buf *sentences)
{
	CLEANUP(buf_done) struct buf unused = {0};
	struct json_writer w = {.buf = r->json ? &r->text : &unused};
	bool lacks;

	json_write_begin(&w, '{');
	lacks = put_controls(&w, json_member(findings, "controls"));
	r->writer = w;
	if (r->json) {
		json_write_key(&r->writer, "attacks");
		json_write_begin(&r->writer, '[');
	} else {
		r->failed = buf_add(&r->text, sentences->data,
				    sentences->len) ||
			    buf_addf(&r->text,
				     "\nAttacks, each with every control on, "
				     "and the wall that stopped it:\n");
	}
	return lacks;
}

static int finish(struct report *r)
{
	const struct attack_tally *t = &r->tally;

	if (r->json) {
		json_write_end(&r->writer, ']');
		json_write_end(&r->writer, '}');
		return json_write_done(&r->writer) ||
		       buf_add(&r->text, "\n", 1);
	}
	return r->failed ||
	       buf_addf(&r->text,
			"\n%zu attacks: %zu stopped, %zu succeeded, %zu "
			"skipped.%s\n",
			r->done, t->n[ATTACK_STOPPED], t->n[ATTACK_SUCCEEDED],
			t->n[ATTACK_SKIPPED],
			t->n[ATTACK_SUCCEEDED]
				? "\nDo not run guests here, and report it: "
				  "SECURITY.md says how."
				: "");
}

static int find_install(const struct json_value *findings, const char **ret,
			struct redoma_error *err)
{
	const struct json_value *install = json_member(findings, "install");
	size_t len;
	const char *dir = json_string(json_member(install, "directory"), &len);
	const char *why = json_string(json_member(install, "remedy"), &len);

	if (!dir)
		return err_set(err, REDOMA_E_UNSUPPORTED, "cli", "%s",
			       why ? why : "nothing is installed");
	*ret = dir;
	return 0;
}

int attack_doctor(const struct json_value *findings,
		  const struct buf *sentences, bool json)
{
	struct report r = {.json = json};
	struct attack_listener l = {.heard = heard, .data = &r};
	struct redoma_error err = {0};
	const char *dir = NULL;
	bool lacks;
	int rc = find_install(findings, &dir, &err);

	if (rc)
		return print_refused(&err, json);
	catch_signals();
	lacks = begin(&r, findings, sentences);
	rc = attack_run_all(dir, &l, &err);
	end_progress();
	if (!rc && finish(&r))
		rc = err_nomem(&err, "cli");
	if (!rc)
		rc = print_bytes(1, r.text.data, r.text.len, &err);
	buf_done(&r.text);
	if (rc)
		return print_refused(&err, json);
	return signalled ? EXIT_CANCELLED : (int)attack_exit(&r.tally, lacks);
}

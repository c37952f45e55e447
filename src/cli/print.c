#include "cli/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "cli/escape.h"
#include "cli/exits.h"
#include "cli/report.h"

static int write_all(int fd, const char *p, size_t len,
		     struct redoma_error *err)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cli", "write to %s",
				       fd == 1 ? "standard output"
					       : "standard error");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int print_bytes(int fd, const void *p, size_t len, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	if (!len)
		return 0;
	if (!isatty(fd))
		return write_all(fd, p, len, err);
	if (escape_add(&b, p, len, ESCAPE_TEXT))
		return err_nomem(err, "cli");
	return write_all(fd, b.data, b.len, err);
}

static bool in_colour(void)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(2) && !(no && *no) && term && strcmp(term, "dumb");
}

void print_line(const char *fmt, ...)
{
	CLEANUP(buf_done) struct buf line = {0};
	CLEANUP_FREE char *text = NULL;
	const char *prefix =
		in_colour() ? "\033[1mredoma:\033[0m " : "redoma: ";
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0) {
		text = NULL;
		return;
	}
	/* Nowhere is left to say that standard error cannot be written. */
	if (!buf_add(&line, prefix, strlen(prefix)) &&
	    !escape_add(&line, text, (size_t)n, ESCAPE_LINE) &&
	    !buf_add(&line, "\n", 1) && write_all(2, line.data, line.len, NULL))
		return;
}

void print_wait(void *data, const char *what)
{
	CLEANUP(buf_done) struct buf b = {0};

	(void)data;
	/* Nothing depends on it. */
	if (isatty(2) && !buf_addf(&b, "\r\033[K") &&
	    (!what || !buf_addf(&b, "redoma: %s ...", what)) &&
	    write_all(2, b.data, b.len, NULL))
		return;
}

static const char *code_name(int code)
{
	static const char *const names[] = {"ok",	   "invalid",
					    "denied",	   "unsupported",
					    "no_memory",   "system",
					    "worker",	   "busy"};

	return code <= 0 && code >= REDOMA_E_BUSY ? names[-code] : "internal";
}

int print_refused(const struct redoma_error *err, bool json)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};
	int exit_code = (int)exits_of_error(err);

	if (!json) {
		print_line("%s", err->text);
		return exit_code;
	}
	json_write_begin(&w, '{');
	json_write_key(&w, "status");
	json_write_text(&w, "refused");
	json_write_key(&w, "error");
	json_write_begin(&w, '{');
	json_write_key(&w, "code");
	json_write_text(&w, code_name(err->code));
	json_write_key(&w, "where");
	json_write_text(&w, err->where);
	json_write_key(&w, "message");
	json_write_text(&w, err->text);
	json_write_end(&w, '}');
	json_write_end(&w, '}');
	if (json_write_done(&w) || buf_add(&b, "\n", 1) ||
	    print_bytes(1, b.data, b.len, NULL))
		print_line("%s", err->text);
	return exit_code;
}

/* Nothing to show: null, or undefined in its tagged form. */
static bool is_nothing(const char *value, uint64_t len)
{
	static const char undefined[] = "{\"$redoma\":\"undefined\"}";

	return !value || !len || (len == 4 && !memcmp(value, "null", 4)) ||
	       (len == sizeof(undefined) - 1 &&
		!memcmp(value, undefined, len));
}

/* Bytes at the end of p that begin a character and do not finish it. */
static size_t unfinished(const char *p, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		unsigned char c = (unsigned char)p[len - n];

		if (c >= 0xc0)
			return n < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? n
									  : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

static int print_piece(struct print_live *l, int stream, const char *p,
		       size_t len)
{
	CLEANUP(buf_done) struct buf b = {0};
	char *cut = l->cut[stream - 1];
	unsigned char *n_cut = &l->n_cut[stream - 1];
	size_t rest;

	if (buf_add(&b, cut, *n_cut) || buf_add(&b, p, len))
		return err_nomem(&l->err, "cli");
	rest = len ? unfinished(b.data, b.len) : 0;
	memcpy(cut, b.data + b.len - rest, rest);
	*n_cut = (unsigned char)rest;
	return print_bytes(stream, b.data, b.len - rest, &l->err);
}

void print_live(void *data, int stream, const void *p, uint64_t len)
{
	struct print_live *l = data;

	if (len && stream == 1)
		l->last = ((const char *)p)[len - 1];
	if (!l->wrong && print_piece(l, stream, p, len))
		l->wrong = true;
}

static int print_value(struct redoma_result *r, struct print_live *live,
		       struct redoma_error *err)
{
	uint64_t value_len = 0;
	const char *value = redoma_result_value(r, &value_len);
	int rc = 0;

	/* What was cut will not be finished any more. */
	print_live(live, 1, "", 0);
	print_live(live, 2, "", 0);
	if (live->wrong) {
		*err = live->err;
		return REDOMA_E_SYSTEM;
	}
	if (is_nothing(value, value_len))
		return 0;
	if (live->last && live->last != '\n')
		rc = print_bytes(1, "\n", 1, err);
	if (!rc)
		rc = print_bytes(1, value, value_len, err);
	if (!rc)
		rc = print_bytes(1, "\n", 1, err);
	return rc;
}

static int print_json(struct redoma_result *r, struct redoma_error *err)
{
	uint64_t len = 0;
	const char *json = redoma_result_json(r, &len);
	int rc;

	if (!json)
		return err_nomem(err, "cli");
	rc = print_bytes(1, json, len, err);
	return rc ? rc : print_bytes(1, "\n", 1, err);
}

int print_result(struct redoma_result *r, const struct print_style *style,
		 struct print_live *live)
{
	struct redoma_error err = {0};
	int rc = style->json ? print_json(r, &err)
			     : print_value(r, live, &err);

	if (rc) {
		print_refused(&err, false);
		return EXIT_INTERNAL;
	}
	if (!style->json && !style->quiet)
		report_lines(r);
	if (style->stats)
		report_stats(r);
	return (int)exits_of_status(redoma_result_status(r));
}

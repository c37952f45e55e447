#include "cli/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"

/* What a person calls it, and what this release does about it. */
struct language_row {
	const char *name; /* as --lang and eval take it */
	const char *extensions;
	const char *interpreters; /* of a #! line */
	int language;		  /* enum source_language, -1: later */
	int native;		  /* the same with --native; -1: never */
};

static const struct language_row languages[] = {
	{"js", ".js .mjs .cjs", "node nodejs qjs redoma", SOURCE_JS,
	 SOURCE_JS},
	{"wasm", ".wasm", "", SOURCE_WASM, -1},
	{"ts", ".ts .mts .cts .tsx .jsx", "ts-node tsx deno bun", -1, -1},
	{"py", ".py .pyw", "python python3", SOURCE_PY, SOURCE_PY},
};

const char *source_language_name(enum source_language l)
{
	static const char *const names[] = {[SOURCE_JS] = "js",
					    [SOURCE_WASM] = "wasm",
					    [SOURCE_PY] = "py",
					    [SOURCE_COMMAND] = NULL};

	return names[l];
}

static bool has_word(const char *words, struct str w)
{
	while (w.len && *words) {
		size_t n = strcspn(words, " ");

		if (str_equal((struct str){words, n}, w))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

static int use(const struct language_row *row, bool native,
	       enum source_language *ret, struct redoma_error *err)
{
	int language = native ? row->native : row->language;

	if (language >= 0) {
		*ret = (enum source_language)language;
		return 0;
	}
	if (native)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--native runs the source of js and py; %s is "
			       "not among them: leave --native out",
			       row->name);
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "this release runs js, py and wasm; %s is not in it%s",
		       row->name,
		       row->native < 0 ? ""
				       : ": --native runs it with the host's "
					 "own interpreter");
}

static const struct language_row *by_name(struct str name)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (str_equal(str_of(languages[i].name), name))
			return &languages[i];
	return NULL;
}

static const struct language_row *by_extension(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!dot || strchr(dot, '/'))
		return NULL;
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (has_word(languages[i].extensions, str_of(dot)))
			return &languages[i];
	return NULL;
}

/* "#!/usr/bin/env -S node --flag" names node. */
static const struct language_row *by_hashbang(struct str s)
{
	struct str line = {s.p, 0};

	if (!str_starts(s, STR("#!")))
		return NULL;
	while (line.len < s.len && line.len < 256 && s.p[line.len] != '\n')
		line.len++;
	line = str_after(line, 2);
	while (line.len) {
		struct str word = {line.p, 0}, dir, base;

		while (word.len < line.len &&
		       !memchr(" \t\r", word.p[word.len], 3))
			word.len++;
		base = word;
		str_split_last(word, '/', &dir, &base);
		for (size_t i = 0; i < sizeof(languages) / sizeof(*languages);
		     i++)
			if (has_word(languages[i].interpreters, base))
				return &languages[i];
		line = str_after(line, word.len + 1);
	}
	return NULL;
}

static bool is_module(struct str s)
{
	return str_starts(s, STR("\0asm"));
}

static int tell_language(const char *path, const char *lang, bool native,
			 struct source *ret, struct redoma_error *err)
{
	struct str s = {ret->bytes.data, ret->bytes.len};
	const struct language_row *row = NULL;

	if (is_module(s))
		return use(by_name(STR("wasm")), native, &ret->language, err);
	if (lang) {
		row = by_name(str_of(lang));
		if (!row)
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "--lang %s is unknown; this release "
				       "runs js, py and wasm",
				       SHOW(str_of(lang)));
		return use(row, native, &ret->language, err);
	}
	row = by_extension(path);
	if (!row)
		row = by_hashbang(s);
	if (row)
		return use(row, native, &ret->language, err);
	if (!strcmp(path, "-"))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "the language of standard input is not known; "
			       "add --lang js, or begin it with a #! line");
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "the language of %s is not known by its extension or "
		       "#! line; add --lang js, py or wasm",
		       SHOW(str_of(path)));
}

static int check_script(struct str s, const char *name,
			struct redoma_error *err)
{
	size_t line = 1;

	if (s.len > SOURCE_SCRIPT_MAX)
		return err_set(err, REDOMA_E_INVALID, "source",
			       "%s is %zu bytes; a script may have 1 MiB: pass "
			       "data by --read or --input",
			       name, s.len);
	for (size_t at = 0; at < s.len;) {
		size_t n = str_utf8(s.p + at, s.len - at);

		if (!n)
			return err_set(err, REDOMA_E_INVALID, "source",
				       "%s is not UTF-8 at byte %zu, line "
				       "%zu; save it as UTF-8 text",
				       name, at, line);
		if (!s.p[at])
			return err_set(err, REDOMA_E_INVALID, "source",
				       "%s contains a NUL byte at byte %zu, "
				       "line %zu: it is binary, not source; "
				       "give the text",
				       name, at, line);
		line += s.p[at] == '\n';
		at += n;
	}
	return 0;
}

static int check(const char *name, const struct source *s,
		 struct redoma_error *err)
{
	struct str bytes = {s->bytes.data, s->bytes.len};

	if (s->language != SOURCE_WASM)
		return check_script(bytes, name, err);
	if (!is_module(bytes))
		return err_set(err, REDOMA_E_INVALID, "source",
			       "%s is not a WebAssembly module: it does not "
			       "begin with \\0asm; give the compiled .wasm",
			       name);
	return 0;
}

/* Reads to the end; over `max` bytes is an error. */
static int read_all(int fd, const char *name, size_t max, struct buf *ret,
		    struct redoma_error *err)
{
	char part[65536];
	ssize_t n;

	for (;;) {
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if ((size_t)n > max - ret->len)
			return err_set(err, REDOMA_E_INVALID, "source",
				       "%s is over %zu MiB; give a smaller one",
				       name, max >> 20);
		if (buf_add(ret, part, (size_t)n))
			return err_nomem(err, "cli");
	}
	if (n < 0)
		return err_sys(err, "cli", "read %s", name);
	return 0;
}

/* Regular files only, so that a FIFO or a device cannot hang the command. */
static int open_file(const char *path, int *ret, struct redoma_error *err)
{
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
					       O_NOCTTY);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "there is no file %s; check the name",
			       SHOW(str_of(path)));
	if (fd < 0 && errno == EACCES)
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s may not be read by you; check its "
			       "permissions with ls -l",
			       SHOW(str_of(path)));
	if (fd < 0 || fstat(fd, &st))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s cannot be opened: %s; check the name",
			       SHOW(str_of(path)), strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s is a directory; name the file in it",
			       SHOW(str_of(path)));
	if (!S_ISREG(st.st_mode))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "%s is not a regular file; use - and a pipe",
			       SHOW(str_of(path)));
	*ret = TAKE_FD(fd);
	return 0;
}

static int read_named(const char *path, size_t max, struct buf *ret,
		      struct redoma_error *err)
{
	CLEANUP_FD int fd = -1;
	int rc;

	if (!strcmp(path, "-"))
		return read_all(0, "standard input", max, ret, err);
	rc = open_file(path, &fd, err);
	return rc ? rc : read_all(fd, SHOW(str_of(path)), max, ret, err);
}

int source_read(const char *path, const char *lang, bool native,
		struct source *ret, struct redoma_error *err)
{
	CLEANUP(source_done) struct source s = {0};
	const char *name = strcmp(path, "-") ? SHOW(str_of(path))
					     : "standard input";
	int rc = read_named(path, SOURCE_MODULE_MAX, &s.bytes, err);

	if (!rc && !s.bytes.len)
		rc = err_set(err, REDOMA_E_INVALID, "source",
			     "%s is empty; there is nothing to run", name);
	if (!rc)
		rc = tell_language(path, lang, native, &s, err);
	if (!rc)
		rc = check(name, &s, err);
	if (rc)
		return rc;
	*ret = s;
	s = (struct source){0};
	return 0;
}

int source_text(const char *text, enum source_language language,
		struct source *ret, struct redoma_error *err)
{
	struct str s = str_of(text);
	int rc;

	if (!s.len)
		return err_set(err, REDOMA_E_INVALID, "source",
			       "the code is empty; there is nothing to run");
	rc = check_script(s, "the code", err);
	if (rc)
		return rc;
	ret->language = language;
	return buf_add(&ret->bytes, s.p, s.len) ? err_nomem(err, "cli") : 0;
}

void source_done(struct source *s)
{
	buf_done(&s->bytes);
}

/* Text as the JSON string that it is for a script. */
static int quote(struct buf *text, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};
	size_t n;

	for (size_t at = 0; at < text->len; at += n) {
		n = str_utf8(text->data + at, text->len - at);
		if (!n)
			return err_set(err, REDOMA_E_INVALID, "cli",
				       "--stdin is not UTF-8 at byte %zu; "
				       "grant other bytes as a file: --read",
				       at);
	}
	if (json_put_string(&b, text->data ? text->data : "", text->len))
		return err_nomem(err, "cli");
	buf_done(text);
	*text = b;
	b = (struct buf){0};
	return 0;
}

int source_input(const char *spec, bool text, enum source_language l,
		 struct buf *ret, struct redoma_error *err)
{
	struct redoma_error why;
	int rc = 0;

	if (!strcmp(spec, "-"))
		rc = read_named("-", SOURCE_INPUT_MAX, ret, err);
	else if (*spec == '@')
		rc = read_named(spec + 1, SOURCE_INPUT_MAX, ret, err);
	else if (*spec && buf_add(ret, spec, strlen(spec)))
		rc = err_nomem(err, "cli");
	if (rc && err)
		strcpy(err->where, "cli");
	if (rc || l == SOURCE_WASM || l == SOURCE_COMMAND)
		return rc;
	if (text)
		return quote(ret, err);
	if (json_validate(ret->data ? ret->data : "", ret->len, &why))
		return err_set(err, REDOMA_E_INVALID, "cli",
			       "--input is not JSON: %.140s; text is written "
			       "in double quotes, or given with --stdin",
			       why.text);
	return 0;
}

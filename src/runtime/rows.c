#include "runtime/rows.h"

#include <stddef.h>
#include <string.h>

static const char *const none[] = {NULL};

static const char *const node_commands[] = {"node", "nodejs", NULL};
static const char *const python_commands[] = {"python3", "python", NULL};
static const char *const sh_commands[] = {"sh", NULL};
static const char *const sh_family[] = {"sh", "dash", "bash", "ash", NULL};

static const char *const sh_tools[] = {
	"[",	    "awk",	"base64",   "basename", "cat",	    "chmod",
	"cksum",    "cmp",	"comm",	    "cp",	"cut",	    "date",
	"dd",	    "diff",	"dirname",  "du",	"echo",	    "egrep",
	"env",	    "expand",	"expr",	    "factor",	"false",    "fgrep",
	"find",	    "fmt",	"fold",	    "grep",	"gunzip",   "gzip",
	"head",	    "id",	"join",	    "link",	"ln",	    "ls",
	"md5sum",   "mkdir",	"mkfifo",   "mktemp",	"mv",	    "nl",
	"nproc",    "numfmt",	"od",	    "paste",	"pr",	    "printenv",
	"printf",   "pwd",	"readlink", "realpath", "rev",	    "rm",
	"rmdir",    "sed",	"seq",	    "sha1sum",	"sha256sum",
	"sha512sum", "shuf",	"sleep",    "sort",	"split",    "stat",
	"tac",	    "tail",	"tee",	    "test",	"timeout",  "touch",
	"tr",	    "true",	"truncate", "tsort",	"uname",    "unexpand",
	"uniq",	    "unlink",	"wc",	    "xargs",	"yes",	    "zcat",
	NULL,
};

#define EVERYWHERE                                            \
	"/usr/share/zoneinfo", "/usr/lib/locale/C.utf8",      \
		"/usr/lib/locale/C.UTF-8"
/* The bundles of authorities and OpenSSL's defaults, where distributions keep
 * them. */
#define TLS                                                           \
	"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem",    \
		"/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf",     \
		"/etc/pki/tls/certs/ca-bundle.crt",                   \
		"/etc/pki/tls/openssl.cnf", "/usr/lib/ssl/cert.pem",  \
		"/usr/lib/ssl/openssl.cnf"

/* The last: modules that some distributions build node without. */
static const char *const node_paths[] = {EVERYWHERE, TLS,
					 "/usr/share/nodejs", NULL};
static const char *const python_paths[] = {EVERYWHERE, TLS, NULL};
static const char *const sh_paths[] = {EVERYWHERE, NULL};

const struct row rows[] = {
	{
		.name = "node",
		.language = "js",
		.commands = node_commands,
		.family = node_commands,
		.tools = none,
		.paths = node_paths,
	},
	{
		.name = "python3",
		.language = "py",
		.python = true,
		.commands = python_commands,
		.family = python_commands,
		.tools = none,
		.paths = python_paths,
	},
	{
		.name = "sh",
		.commands = sh_commands,
		.family = sh_family,
		.tools = sh_tools,
		.paths = sh_paths,
	},
	{.name = NULL},
};

static bool has(const char *const *list, const char *word)
{
	for (size_t i = 0; list[i]; i++)
		if (!strcmp(list[i], word))
			return true;
	return false;
}

const struct row *rows_find(const char *name)
{
	for (size_t i = 0; rows[i].name; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const struct row *rows_language(const char *language)
{
	for (size_t i = 0; rows[i].name; i++)
		if (rows[i].language && !strcmp(rows[i].language, language))
			return &rows[i];
	return NULL;
}

bool rows_means(const struct row *row, const char *command)
{
	return has(row->commands, command);
}

/* "python3.11", "python3.13t" */
static bool is_python(const char *name)
{
	return !strncmp(name, "python3.", 8) &&
	       name[8] >= '0' && name[8] <= '9' && !strchr(name, '-');
}

const struct row *rows_of_program(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; rows[i].name; i++)
		if (has(rows[i].family, name) ||
		    (rows[i].python && is_python(name)))
			return &rows[i];
	return NULL;
}

#include "cli/split.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* One word from *at; NULL: it does not end as it should. */
static const char *take_word(const char *at, char **out)
{
	char quote = 0;

	for (; *at && (quote || !is_blank(*at)); at++) {
		if (quote && *at == quote) {
			quote = 0;
		} else if (!quote && (*at == '\'' || *at == '"')) {
			quote = *at;
		} else {
			if (*at == '\\' && quote != '\'' && !*++at)
				return NULL;
			*(*out)++ = *at;
		}
	}
	*(*out)++ = '\0';
	return quote ? NULL : at;
}

int split_command(const char *text, char ***ret, struct redoma_error *err)
{
	/* Every second character may be a word, and each has its end. */
	size_t len = strlen(text), words = len / 2 + 2, n = 0;
	char **argv = malloc(words * sizeof *argv + 2 * len + 2);
	char *out;

	if (!argv)
		return err_nomem(err, "cli");
	out = (char *)(argv + words);
	while (text) {
		while (is_blank(*text))
			text++;
		if (!*text)
			break;
		argv[n++] = out;
		text = take_word(text, &out);
	}
	argv[n] = NULL;
	if (text && n) {
		*ret = argv;
		return 0;
	}
	free(argv);
	return err_set(err, REDOMA_E_INVALID, "cli",
		       text ? "a tool's command is empty; write "
			      "--tool NAME='COMMAND ARGS'"
			    : "a tool's command has a quote that is not "
			      "closed, or ends in a backslash");
}

#include <string.h>

#include "cli/exits.h"
#include "cli/help.h"
#include "cli/verb.h"

/* What other commands call some of our verbs. */
static const char *verb_word(const char *word)
{
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return "version";
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return "help";
	return word;
}

int main(int argc, char **argv)
{
	const struct verb *v;

	if (argc < 2) {
		help_screen();
		return EXIT_USAGE;
	}
	v = verb_find(verb_word(argv[1]));
	return v ? verb_run(v, argv + 2) : verb_unknown(argv[1]);
}

#include <string.h>

#include "cli/exits.h"
#include "cli/print.h"
#include "cli/verb.h"

static int run(const struct args *a)
{
	static const char line[] = "redoma " REDOMA_VERSION "\n";
	struct redoma_error err;

	(void)a;
	if (print_bytes(1, line, sizeof(line) - 1, &err)) {
		print_refused(&err, false);
		return EXIT_INTERNAL;
	}
	return EXIT_OK;
}

const struct verb verb_version_row = {
	.name = "version",
	.synopsis = "",
	.summary = "print the version",
	.options = {verb_options},
	.takes_none = true,
	.run = run,
};

#include "cli/exits.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

const struct exit_row exits_table[] = {
	{EXIT_OK, "the run ended well"},
	{EXIT_GUEST, "the guest threw, or exited with a code that is not 0"},
	{EXIT_USAGE, "command line, policy or granted file cannot be used"},
	{EXIT_LIMIT, "a limit ended the run"},
	{EXIT_DENIED, "denied: wider than the policy, or on_denied: end"},
	{EXIT_INVALID, "invalid module or source"},
	{EXIT_SANDBOX, "a control of the sandbox is unavailable here"},
	{EXIT_CRASH, "trap, or the worker crashed"},
	{EXIT_BREACH, "breach: a wall was touched and the worker killed"},
	{EXIT_INTERNAL, "internal error"},
	{EXIT_CANCELLED, "cancelled by Ctrl-C or a signal"},
	{0, NULL},
};

enum cli_exit exits_of_status(enum redoma_status s)
{
	switch (s) {
	case REDOMA_STATUS_OK:
		return EXIT_OK;
	case REDOMA_STATUS_ERROR:
		return EXIT_GUEST;
	case REDOMA_STATUS_WALL_LIMIT:
	case REDOMA_STATUS_CPU_LIMIT:
	case REDOMA_STATUS_FUEL_LIMIT:
	case REDOMA_STATUS_MEMORY_LIMIT:
	case REDOMA_STATUS_STACK_LIMIT:
	case REDOMA_STATUS_OUTPUT_LIMIT:
	case REDOMA_STATUS_CALL_LIMIT:
		return EXIT_LIMIT;
	case REDOMA_STATUS_DENIED:
		return EXIT_DENIED;
	case REDOMA_STATUS_INVALID:
		return EXIT_INVALID;
	case REDOMA_STATUS_TRAP:
	case REDOMA_STATUS_CRASHED:
		return EXIT_CRASH;
	case REDOMA_STATUS_CANCELLED:
		return EXIT_CANCELLED;
	case REDOMA_STATUS_BREACH:
		return EXIT_BREACH;
	}
	return EXIT_INTERNAL;
}

/* A name the person gave does not open: their words, not our fault. */
static bool is_about_a_name(int sys)
{
	static const int about[] = {ENOENT, EACCES, ENOTDIR, EISDIR,
				    ELOOP,  EROFS,  ENXIO,   ENAMETOOLONG,
				    EPERM,  EEXIST};

	for (size_t i = 0; i < sizeof(about) / sizeof(about[0]); i++)
		if (about[i] == sys)
			return true;
	return false;
}

enum cli_exit exits_of_error(const struct redoma_error *err)
{
	static const char *const named[] = {"cli", "policy", "broker", "core",
					    "base"};

	switch (err->code) {
	case REDOMA_E_INVALID:
		return strcmp(err->where, "source") ? EXIT_USAGE : EXIT_INVALID;
	case REDOMA_E_DENIED:
		return EXIT_DENIED;
	case REDOMA_E_UNSUPPORTED:
		return EXIT_SANDBOX;
	case REDOMA_E_SYSTEM:
		for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
			if (!strcmp(err->where, named[i]) &&
			    is_about_a_name(err->sys))
				return EXIT_USAGE;
		return EXIT_INTERNAL;
	}
	return EXIT_INTERNAL;
}

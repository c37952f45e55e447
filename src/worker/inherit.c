#include "worker/inherit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"

#define LINE_MAX_BYTES 4608 /* a path and what stands before it */

static void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

/* True for a private mapping of a file's code. */
static bool is_code(const char *line, uint64_t *ret_at)
{
	char perms[5];
	int path = 0;

	return sscanf(line, "%" SCNx64 "-%*x %4s %*x %*s %*u %n", ret_at, perms,
		      &path) == 2 &&
	       path && line[path] == '/' && !strcmp(perms, "r-xp");
}

void inherit_code(void)
{
	CLEANUP(close_file) FILE *maps = fopen("/proc/self/maps", "re");
	CLEANUP_FD int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	char line[LINE_MAX_BYTES];
	uint64_t at;
	char byte;

	if (!maps || mem < 0)
		return;
	while (fgets(line, sizeof line, maps))
		if (is_code(line, &at) &&
		    pread(mem, &byte, 1, (off_t)at) == 1 &&
		    pwrite(mem, &byte, 1, (off_t)at) != 1)
			return;
}

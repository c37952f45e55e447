/* redoma-compile: the only program that holds a compiler.
 *
 *	redoma-compile --image IN.wasm OUT.cwasm [--fuel]
 *		a language image, when Redoma is built: trusted, no jail
 *	redoma-compile --module PROFILE WALLS
 *		started by the core: one untrusted module, inside the jail.
 *		WALLS: bits of the controls that may be missing, decimal
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/image.h"
#include "compiler/serve.h"

static int usage(void)
{
	fputs("usage: redoma-compile --image IN.wasm OUT.cwasm [--fuel]\n",
	      stderr);
	return 2;
}

static int run_image(int argc, char **argv)
{
	struct redoma_error err;
	bool fuel = argc == 5 && !strcmp(argv[4], "--fuel");

	if (argc != 4 && !fuel)
		return usage();
	if (!image_compile(fuel ? PROFILE_IMAGE_FUEL : PROFILE_IMAGE, argv[2],
			   argv[3], &err))
		return 0;
	fprintf(stderr, "redoma-compile: %s: %s\n", err.where, err.text);
	return 1;
}

static int run_module(char **argv)
{
	enum profile profile = profile_find(argv[2]);
	char *end;
	unsigned long walls = strtoul(argv[3], &end, 10);

	if (profile == PROFILES || *end || walls > UINT32_MAX)
		return usage();
	return serve_module(profile, (uint32_t)walls);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--image"))
		return run_image(argc, argv);
	if (argc == 4 && !strcmp(argv[1], "--module"))
		return run_module(argv);
	return usage();
}

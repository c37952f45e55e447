/* redoma-compile: the only program that holds a compiler.
 *
 *	redoma-compile --image IN.wasm OUT.cwasm [--fuel] [--cpu NAME]
 *		a language image, when Redoma is built: trusted, no jail;
 *		for this CPU, or for a level of engine/cpu.h
 *	redoma-compile --module PROFILE WALLS
 *		started by the core: one untrusted module, inside the jail.
 *		WALLS: bits of the controls that may be missing, decimal
 *	redoma-compile --data WALLS
 *		likewise: the data image, from bytes of the digests in
 *		deps/data.pin
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/data.h"
#include "compiler/image.h"
#include "compiler/serve.h"

static int usage(void)
{
	fputs("usage: redoma-compile --image IN.wasm OUT.cwasm [--fuel] "
	      "[--cpu NAME]\nNAME: " CPU_NAMES "\n",
	      stderr);
	return 2;
}

static bool read_cpu(const char *name, const struct cpu **ret)
{
	*ret = cpu_find(name);
	return *ret || !strcmp(name, "native");
}

static int run_image(int argc, char **argv)
{
	struct image_job j = {.profile = PROFILE_IMAGE};
	struct redoma_error err;

	if (argc < 4)
		return usage();
	j.in = argv[2];
	j.out = argv[3];
	for (int i = 4; i < argc; i++) {
		if (!strcmp(argv[i], "--fuel"))
			j.profile = PROFILE_IMAGE_FUEL;
		else if (strcmp(argv[i], "--cpu") || i + 1 == argc ||
			 !read_cpu(argv[++i], &j.cpu))
			return usage();
	}
	if (!image_compile(&j, &err))
		return 0;
	fprintf(stderr, "redoma-compile: %s: %s\n", err.where, err.text);
	return 1;
}

static bool read_walls(const char *text, uint32_t *ret)
{
	char *end;
	unsigned long walls = strtoul(text, &end, 10);

	*ret = (uint32_t)walls;
	return !*end && walls <= UINT32_MAX;
}

static int run_module(char **argv)
{
	enum profile profile = profile_find(argv[2]);
	uint32_t walls;

	if (profile == PROFILES || !read_walls(argv[3], &walls))
		return usage();
	return serve_module(profile, walls);
}

static int run_data(char **argv)
{
	uint32_t walls;

	return read_walls(argv[2], &walls) ? data_image(walls) : usage();
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--image"))
		return run_image(argc, argv);
	if (argc == 4 && !strcmp(argv[1], "--module"))
		return run_module(argv);
	if (argc == 3 && !strcmp(argv[1], "--data"))
		return run_data(argv);
	return usage();
}

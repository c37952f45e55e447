/* redoma-attack NAME ...: one attack, as the payload of a native jail.  Only
 * `redoma doctor --attack` starts it, with every control on. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "intruder/scene.h"

static const struct attack {
	const char *name;
	int (*run)(const struct scene *s);
} attacks[] = {
#define ROW(name, title, wall, limit, ends) {#name, name},
	NATIVE_ROWS(ROW)
};

int scene_show(int fd)
{
	char text[512];
	ssize_t n = read(fd, text, sizeof text);

	if (n < 0)
		return errno;
	if (n == 0)
		return ENODATA;
	printf("read: ");
	fwrite(text, 1, (size_t)n, stdout);
	printf("\n");
	return 0;
}

int scene_show_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int sys = fd < 0 ? errno : scene_show(fd);

	if (fd >= 0)
		close(fd);
	return sys;
}

int scene_open_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int say(int sys)
{
	const char *name = sys > 0 ? strerrorname_np(sys) : NULL;

	if (sys == TRIED)
		printf("\ntried\n");
	else if (sys)
		printf("\nstopped %s\n", name ? name : "EUNKNOWN");
	else
		printf("\nSUCCESS\n");
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct scene s;

	if (argc < 10) {
		fprintf(stderr, "redoma-attack is started by `redoma doctor "
				"--attack`, inside a jail\n");
		return 2;
	}
	s = (struct scene){
		.self = argv[0],
		.secret = argv[2],
		.abstract = argv[3],
		.tcp = (uint16_t)atoi(argv[4]),
		.udp = (uint16_t)atoi(argv[5]),
		.key = atoi(argv[6]),
		.target = (pid_t)atoi(argv[7]),
		.word = (uintptr_t)strtoull(argv[8], NULL, 16),
		.token = argv[9],
	};
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		if (!strcmp(argv[1], attacks[i].name))
			return say(attacks[i].run(&s));
	fprintf(stderr, "no attack %s\n", argv[1]);
	return 2;
}

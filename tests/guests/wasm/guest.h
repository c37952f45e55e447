/* What the guests of the tests share: a program is a table of commands; each
 * prints lines "ok ..." or "NAME" of an errno. */
#ifndef GUEST_H
#define GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wasi/api.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the name */
};

static inline const char *errno_name(int e)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{0, "ok"},	       {EACCES, "EACCES"},
		{EBADF, "EBADF"},      {EEXIST, "EEXIST"},
		{EFAULT, "EFAULT"},    {EFBIG, "EFBIG"},
		{EILSEQ, "EILSEQ"},    {EINVAL, "EINVAL"},
		{EIO, "EIO"},	       {EISDIR, "EISDIR"},
		{ELOOP, "ELOOP"},      {EMFILE, "EMFILE"},
		{ENFILE, "ENFILE"},    {ENAMETOOLONG, "ENAMETOOLONG"},
		{ENOENT, "ENOENT"},    {ENOMEM, "ENOMEM"},
		{ENOSPC, "ENOSPC"},    {ENOSYS, "ENOSYS"},
		{ENOTDIR, "ENOTDIR"},  {ENOTEMPTY, "ENOTEMPTY"},
		{ENOTSUP, "ENOTSUP"},  {EPERM, "EPERM"},
		{EROFS, "EROFS"},      {ESPIPE, "ESPIPE"},
		{EXDEV, "EXDEV"},      {ENOTCAPABLE, "ENOTCAPABLE"},
		{EDQUOT, "EDQUOT"},    {ENXIO, "ENXIO"},
		{EOVERFLOW, "EOVERFLOW"}, {EAGAIN, "EAGAIN"},
		{EBUSY, "EBUSY"},      {ENODEV, "ENODEV"},
	};
	static char other[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == e)
			return names[i].name;
	snprintf(other, sizeof(other), "errno %d", e);
	return other;
}

/* For calls of libc: 0 or more is well. */
static inline int say(long rc)
{
	if (rc < 0)
		printf("%s\n", errno_name(errno));
	else
		printf("ok\n");
	return 0;
}

/* For calls of wasi/api.h, which return the errno. */
static inline int say_errno(int e)
{
	printf("%s\n", errno_name(e));
	return 0;
}

static inline int guest_main(const struct command *table, int argc,
			     char **argv)
{
	for (; argc > 1 && table->name; table++)
		if (!strcmp(table->name, argv[1]))
			return table->run(argc - 1, argv + 1);
	fprintf(stderr, "no such command\n");
	return 2;
}

#endif

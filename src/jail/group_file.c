/* Reading and writing the files of a control group. */
#include "jail/group_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

int gfile_open(int place, const char *at, const char *name, int flags)
{
	char path[GROUP_PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s", at, name);

	if (n < 0 || (size_t)n >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return fd_lift(openat(place, path,
			      flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

int gfile_read(int place, const char *at, const char *name,
	       char text[GROUP_TEXT_MAX])
{
	CLEANUP_FD int fd = gfile_open(place, at, name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, GROUP_TEXT_MAX - 1);

	if (n < 0)
		return -1;
	text[n] = 0;
	return 0;
}

/* One write: the kernel takes the whole value or none of it. */
int gfile_put(int fd, const char *text)
{
	ssize_t n = write(fd, text, strlen(text));

	if (n < 0)
		return -1;
	errno = EIO;
	return (size_t)n == strlen(text) ? 0 : -1;
}

int gfile_write(int place, const char *at, const char *name, const char *text)
{
	CLEANUP_FD int fd = gfile_open(place, at, name, O_WRONLY);

	return fd < 0 ? -1 : gfile_put(fd, text);
}

bool gfile_exists(int place, const char *at, const char *name)
{
	CLEANUP_FD int fd = gfile_open(place, at, name, O_PATH);

	return fd >= 0;
}

bool gtext_number(const char *text, const char *key, uint64_t *ret)
{
	size_t n = key ? strlen(key) : 0;
	char *end;
	uint64_t v;

	while (n && (strncmp(text, key, n) || text[n] != ' ')) {
		text = strchr(text, '\n');
		if (!text)
			return false;
		text++;
	}
	text += n ? n + 1 : 0;
	if (!strncmp(text, "max", 3)) {
		*ret = UINT64_MAX;
		return true;
	}
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || (*end && *end != '\n'))
		return false;
	*ret = v;
	return true;
}

int gfile_number(int place, const char *at, const char *name, const char *key,
		 uint64_t *ret)
{
	char text[GROUP_TEXT_MAX];

	if (gfile_read(place, at, name, text))
		return -1;
	if (gtext_number(text, key, ret))
		return 0;
	errno = EPROTO;
	return -1;
}

bool gtext_lists(const char *words, const char *word, const char *separators)
{
	size_t n = strlen(word);

	for (;;) {
		size_t len = strcspn(words, separators);

		if (len == n && !memcmp(words, word, n))
			return true;
		if (!words[len])
			return false;
		words += len + 1;
	}
}

int gfile_set(int place, const char *at, const struct gset *s,
	      struct redoma_error *err)
{
	CLEANUP_FD int fd = gfile_open(place, at, s->name, O_RDWR);
	char text[32], back[GROUP_TEXT_MAX];
	uint64_t kept = 0;
	ssize_t n;

	snprintf(text, sizeof text, "%" PRIu64, s->value);
	if (fd < 0 || gfile_put(fd, text))
		return err_sys(err, GROUP_WHERE, "write %s to %s", text,
			       s->name);
	n = pread(fd, back, sizeof back - 1, 0);
	if (n >= 0)
		back[n] = 0;
	else
		*back = 0;
	errno = n < 0 ? errno : EPROTO;
	if (n < 0 || !gtext_number(back, NULL, &kept))
		return err_sys(err, GROUP_WHERE, "read %s back", s->name);
	if (kept <= s->value && s->value - kept < s->round)
		return 0;
	return err_set(err, REDOMA_E_UNSUPPORTED, GROUP_WHERE,
		       "%s was set to %s, but the kernel keeps %" PRIu64,
		       s->name, text, kept);
}

const struct hier *groups_with(const struct groups *g, uint32_t has)
{
	for (size_t i = 0; i < g->n; i++)
		if ((g->h[i].has & has) == has)
			return &g->h[i];
	return NULL;
}

#include "core/klog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"

#define RECORDS_MAX 20000 /* of a log that grows while it is read */
#define TRIES 20
#define TRY_NS 5000000L
#define CONTRADICTED (-2)

static int64_t number_after(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoll(at + strlen(word), NULL, 10) : -1;
}

/* "audit(1796033498.481:12): " is seconds and milliseconds. */
static bool is_within(const char *record, const struct klog_who *w)
{
	int64_t s = number_after(record, " audit(");
	const char *dot = strstr(record, " audit(");
	uint64_t ms;

	dot = dot ? strchr(dot, '.') : NULL;
	if (s < 0 || !dot)
		return false;
	ms = (uint64_t)s * 1000 + strtoull(dot + 1, NULL, 10);
	return ms >= w->from_ms && ms <= w->to_ms;
}

int klog_match(const char *record, const struct klog_who *w)
{
	if (!strstr(record, "type=1326 ") || !is_within(record, w))
		return -1;
	if (w->pid >= 0 && number_after(record, " pid=") != w->pid)
		return -1;
	if (w->uid >= 0 && number_after(record, " uid=") != w->uid)
		return -1;
	return (int)number_after(record, " syscall=");
}

/* Only what was not read before. */
static int read_on(int fd, const struct klog_who *w, int found)
{
	char record[8192];

	for (int i = 0; i < RECORDS_MAX; i++) {
		ssize_t n = read(fd, record, sizeof record - 1);
		int nr;

		if (n < 0 && errno == EPIPE) /* it was overwritten */
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		nr = klog_match(record, w);
		if (nr >= 0 && found >= 0 && nr != found && !w->alone)
			return CONTRADICTED;
		found = nr >= 0 ? nr : found;
	}
	return found;
}

int klog_syscall(const struct klog_who *w)
{
	const struct timespec pause = {.tv_nsec = TRY_NS};
	CLEANUP_FD int fd = fd_lift(
		open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	int found = -1;

	for (int i = 0; fd >= 0 && found == -1 && i < TRIES; i++) {
		if (i)
			(void)nanosleep(&pause, NULL);
		found = read_on(fd, w, found);
	}
	return found >= 0 ? found : -1;
}

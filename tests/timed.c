/* timed TIMES FILE...: runs each module so often on one warm handle, and prints
 * one line for it: its status, the median in microseconds, what it says.  The
 * clock runs inside, so that no start of a command is in it. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <redoma.h>

#define TIMES_MAX 99

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

static const char *run(struct redoma *h, const void *p, size_t n, char *room)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	const char *status = "refused";

	q.language = "wasm";
	q.source = p;
	q.source_len = n;
	if (redoma_run(h, &q, &r, &err)) {
		snprintf(room, 400, "%s", err.text);
		return status;
	}
	status = redoma_status_name(redoma_result_status(r));
	snprintf(room, 400, "%s", redoma_result_json(r, NULL));
	redoma_result_free(r);
	return status;
}

static int time_one(struct redoma *h, int times, const char *path)
{
	long took[TIMES_MAX];
	char room[400] = "";
	const char *status = "";
	struct stat st;
	void *p = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (st.st_size)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	for (int i = 0; i < times; i++) {
		long from = now_us();

		status = run(h, p, (size_t)st.st_size, room);
		took[i] = now_us() - from;
	}
	if (p)
		munmap(p, (size_t)st.st_size);
	qsort(took, (size_t)times, sizeof *took, compare);
	printf("%s %ld %s %s\n", status, took[times / 2], path, room);
	return 0;
}

int main(int argc, char **argv)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	int times = argc > 2 ? atoi(argv[1]) : 0;
	const char *tmp = getenv("TMPDIR");
	struct redoma_error err = {0};
	struct redoma *h = NULL;
	char cache[4096];

	if (times < 1 || times > TIMES_MAX)
		return 2;
	snprintf(cache, sizeof cache, "%s/timed-cache", tmp ? tmp : "/tmp");
	o.install_dir = TEST_BUILD;
	o.cache_dir = cache;
	if (redoma_open(NULL, &o, &h, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int i = 2; i < argc; i++)
		if (time_one(h, times, argv[i])) {
			perror(argv[i]);
			return 1;
		}
	redoma_close(h);
	return 0;
}

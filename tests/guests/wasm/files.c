/* Files, as a hostile program would use them: one command a run. */
#include <dirent.h>
#include <sys/stat.h>

#include "guest.h"

static int cat(int argc, char **argv)
{
	char part[4096];

	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, part, sizeof(part));

		if (n < 0)
			printf("%s\n", errno_name(errno));
		else
			printf("ok %.*s\n", (int)n, part);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}

/* As cat, with the name given to path_open of the first preopened directory
 * by bytes: "%NN" is one byte. */
static int raw_open(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *name = argv[i];
		size_t n = 0;
		__wasi_fd_t fd;
		int e;

		for (const char *s = argv[i]; *s; s++) {
			unsigned byte;

			if (*s == '%' && sscanf(s + 1, "%2x", &byte) == 1) {
				name[n++] = (char)byte;
				s += 2;
			} else {
				name[n++] = *s;
			}
		}
		/* The libc's import takes a C string: ask ours. */
		extern int32_t path_open_raw(int32_t, int32_t, const char *,
					     int32_t, int32_t, int64_t,
					     int64_t, int32_t, __wasi_fd_t *)
			__attribute__((import_module("wasi_snapshot_preview1"),
				       import_name("path_open")));
		e = path_open_raw(3, 1, name, (int32_t)n, 0,
				  __WASI_RIGHTS_FD_READ, 0, 0, &fd);
		say_errno(e);
	}
	return 0;
}

static int list(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		DIR *d = opendir(argv[i]);
		struct dirent *e;

		if (!d) {
			printf("%s\n", errno_name(errno));
			continue;
		}
		printf("ok");
		while ((e = readdir(d)))
			printf(" %s:%d", e->d_name, e->d_type);
		printf("\n");
		closedir(d);
	}
	return 0;
}

static int put(int argc, char **argv)
{
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	long rc = fd < 0 ? -1 : write(fd, argv[2], strlen(argv[2]));

	(void)argc;
	if (fd >= 0 && close(fd))
		rc = -1;
	return say(rc);
}

/* put-many PREFIX COUNT: files until one fails. */
static int put_many(int argc, char **argv)
{
	char name[256];
	int n = 0, count = atoi(argv[2]);

	(void)argc;
	for (; n < count; n++) {
		int fd;

		snprintf(name, sizeof(name), "%s%d", argv[1], n);
		fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
		if (fd < 0 || write(fd, "x", 1) != 1)
			break;
		close(fd);
	}
	printf("%d %s\n", n, n == count ? "ok" : errno_name(errno));
	return 0;
}

/* fill PATH BYTES: writes until it fails or BYTES are written. */
static int fill(int argc, char **argv)
{
	static char part[65536];
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
	long long want = atoll(argv[2]), done = 0;

	(void)argc;
	memset(part, 'f', sizeof(part));
	while (fd >= 0 && done < want) {
		long long left = want - done;
		ssize_t n = write(fd, part, left < (long long)sizeof(part)
						    ? (size_t)left
						    : sizeof(part));

		if (n <= 0)
			break;
		done += n;
	}
	printf("%lld %s\n", done, done == want ? "ok" : errno_name(errno));
	return 0;
}

static int make_dir(int argc, char **argv)
{
	(void)argc;
	return say(mkdir(argv[1], 0777));
}

static int remove_file(int argc, char **argv)
{
	(void)argc;
	return say(unlink(argv[1]));
}

static int remove_dir(int argc, char **argv)
{
	(void)argc;
	return say(rmdir(argv[1]));
}

static int move(int argc, char **argv)
{
	(void)argc;
	return say(rename(argv[1], argv[2]));
}

static int hard_link(int argc, char **argv)
{
	(void)argc;
	return say(link(argv[1], argv[2]));
}

static int sym_link(int argc, char **argv)
{
	(void)argc;
	return say(symlink(argv[1], argv[2]));
}

static int show_stat(int argc, char **argv)
{
	struct stat st;

	for (int i = 1; i < argc; i++) {
		if (stat(argv[i], &st))
			printf("%s\n", errno_name(errno));
		else
			printf("ok %o %lld %lld\n", st.st_mode & S_IFMT,
			       (long long)st.st_size,
			       (long long)st.st_mtim.tv_sec);
	}
	return 0;
}

/* again PATH: reads one byte at a time, sleeping between; told what it saw. */
static int again(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	char part[64];

	(void)argc;
	for (int i = 0; i < 40; i++) {
		ssize_t n = pread(fd, part, sizeof(part), 0);

		if (n < 0)
			return say(-1);
		if (i == 0 || i == 39)
			printf("%.*s\n", (int)n, part);
		usleep(25000);
	}
	return 0;
}

/* many-opens PATH COUNT */
static int many_opens(int argc, char **argv)
{
	long held = 0, failed = 0, count = atol(argv[2]);
	int last = 0;

	(void)argc;
	for (long i = 0; i < count; i++) {
		if (open(argv[1], O_RDONLY) < 0) {
			failed++;
			last = errno;
		} else {
			held++;
		}
	}
	printf("held %ld failed %ld %s\n", held, failed, errno_name(last));
	return 0;
}

/* renumber PATH COUNT: onto an open descriptor, again and again. */
static int renumber(int argc, char **argv)
{
	long count = atol(argv[2]);
	int target = open(argv[1], O_RDONLY), e = 0;

	(void)argc;
	for (long i = 0; i < count && !e; i++) {
		int fd = open(argv[1], O_RDONLY);

		if (fd < 0)
			return say(-1);
		e = __wasi_fd_renumber(fd, target);
	}
	return say_errno(e);
}

int main(int argc, char **argv)
{
	static const struct command table[] = {
		{"cat", cat},		{"raw-open", raw_open},
		{"list", list},		{"put", put},
		{"put-many", put_many}, {"fill", fill},
		{"mkdir", make_dir},	{"unlink", remove_file},
		{"rmdir", remove_dir},	{"rename", move},
		{"link", hard_link},	{"symlink", sym_link},
		{"stat", show_stat},	{"again", again},
		{"many-opens", many_opens}, {"renumber", renumber},
		{0},
	};

	return guest_main(table, argc, argv);
}

/* attack.wasm NAME SECRET: one attack by a module, with every control on.  It
 * says the outcome as one line: "SUCCESS", "stopped CODE", or "tried" where
 * only the host can know; what it reads it prints. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wasi/api.h>

#define TRIED (-1)
#define SUCCESS 0
#define FDS 1024
#define LOOKUP __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW
#define READ (__WASI_RIGHTS_FD_READ | __WASI_RIGHTS_FD_SEEK)
#define WRITE (READ | __WASI_RIGHTS_FD_WRITE)
#define PAGE 65536

static const char *secret;

static int show(int fd)
{
	char text[256];
	__wasi_iovec_t v = {(uint8_t *)text, sizeof text};
	size_t n = 0;
	int code = __wasi_fd_read((unsigned)fd, &v, 1, &n);

	if (code)
		return code;
	if (!n)
		return __WASI_ERRNO_BADF;
	printf("read: %.*s\n", (int)n, text);
	return SUCCESS;
}

/* Below each descriptor that could be a directory. */
static int open_any(const char *path, int flags, uint64_t rights, int *ret)
{
	int first = __WASI_ERRNO_BADF;

	for (int dir = 3; dir < 16; dir++) {
		__wasi_fd_t fd;
		int code = __wasi_path_open(dir, LOOKUP, path, flags, rights,
					    rights, 0, &fd);

		if (!code) {
			*ret = (int)fd;
			return SUCCESS;
		}
		if (code != __WASI_ERRNO_BADF)
			first = code;
	}
	return first;
}

static int read_any(const char *const *paths)
{
	int code = 0, fd;

	for (; *paths; paths++) {
		code = open_any(*paths, 0, READ, &fd);
		if (!code && !show(fd))
			return SUCCESS;
	}
	return code ? code : __WASI_ERRNO_BADF;
}

static int read_secret(void)
{
	const char *const paths[] = {secret, secret + 1, NULL};

	return read_any(paths);
}

static int climb_dots(void)
{
	char deep[600];
	const char *const paths[] = {
		"../secret", "sub/../../secret", "./../secret",
		"../../../../../../etc/passwd", "shown/../../secret", deep,
		NULL};

	snprintf(deep, sizeof deep, "../../../../../../../../..%s", secret);
	return read_any(paths);
}

static int follow_links(void)
{
	static const char *const paths[] = {
		"link-out", "link-abs", "link-up/secret", "link-abs/",
		"link-up/../secret", "shown/link-out", NULL};

	return read_any(paths);
}

static int write_granted(void)
{
	int fd, code = open_any("in.txt", 0, WRITE, &fd);

	if (!code)
		code = write(fd, "x", 1) == 1 ? SUCCESS : __WASI_ERRNO_ROFS;
	for (int dir = 3; dir < 16 && code; dir++)
		if (!__wasi_path_unlink_file(dir, "in.txt") ||
		    !__wasi_path_rename(dir, "in.txt", dir, "moved"))
			return SUCCESS;
	return code;
}

static int create_beside(void)
{
	int fd;

	return open_any("new.txt", __WASI_OFLAGS_CREAT, WRITE, &fd)
		       ? __WASI_ERRNO_ROFS
		       : TRIED; /* below /out it may */
}

static int make_link(void)
{
	const char *const paths[] = {"out/link", "link", NULL};
	int code = __WASI_ERRNO_BADF;

	for (int dir = 3; dir < 16; dir++) {
		int one = __wasi_path_symlink(secret, dir, "link");

		if (one != __WASI_ERRNO_BADF)
			code = one;
	}
	return read_any(paths) ? (code ? code : TRIED) : SUCCESS;
}

static int leaked_fds(void)
{
	int code = __WASI_ERRNO_BADF;

	for (int fd = 3; fd < FDS; fd++)
		if (!show(fd))
			code = SUCCESS;
	return code;
}

static int read_environ(void)
{
	size_t n = 0, size = 0;
	char **all, *text;

	if (__wasi_environ_sizes_get(&n, &size))
		return __WASI_ERRNO_NOSYS;
	all = calloc(n + 1, sizeof *all);
	text = calloc(1, size + 1);
	if (!all || !text || __wasi_environ_get((uint8_t **)all,
						(uint8_t *)text))
		return __WASI_ERRNO_NOMEM;
	for (size_t i = 0; i < n; i++)
		printf("read: %s\n", all[i]);
	return TRIED;
}

static int use_sockets(void)
{
	__wasi_ciovec_t v = {(const uint8_t *)"x", 1};
	int code = __WASI_ERRNO_NOTSOCK;

	for (int fd = 0; fd < FDS && code; fd++) {
		__wasi_fd_t made;
		size_t n;

		if (!__wasi_sock_accept(fd, 0, &made) ||
		    !__wasi_sock_send(fd, &v, 1, 0, &n) ||
		    !__wasi_sock_shutdown(fd, __WASI_SDFLAGS_WR))
			code = SUCCESS;
	}
	return code;
}

static int move_fds(void)
{
	(void)__wasi_fd_renumber(4, 3);
	(void)__wasi_fd_renumber(0x7fffffff, 3);
	(void)__wasi_fd_renumber(3, 0xffffffffu);
	return leaked_fds();
}

/* More than the limit of the memory, 64 MiB. */
static int grow_memory(void)
{
	for (int i = 0; i < 4096; i++)
		if (__builtin_wasm_memory_grow(0, 1) == (size_t)-1)
			return __WASI_ERRNO_NOMEM;
	return SUCCESS;
}

static int grow_at_once(void)
{
	return __builtin_wasm_memory_grow(0, 65000) == (size_t)-1
		       ? __WASI_ERRNO_NOMEM
		       : SUCCESS;
}

static int spin(void)
{
	volatile unsigned n = 0;

	for (;;)
		n++;
}

static int sleep_long(void)
{
	__wasi_subscription_t s = {0};
	__wasi_event_t e;
	size_t n;

	s.u.tag = __WASI_EVENTTYPE_CLOCK;
	s.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
	s.u.u.clock.timeout = (uint64_t)3600 * 1000000000;
	return __wasi_poll_oneoff(&s, &e, 1, &n) ? __WASI_ERRNO_NOSYS
						 : SUCCESS;
}

static int deeper(volatile int *p, int n)
{
	volatile int here[64] = {n};

	return n < 0 ? *p : deeper(here, n + 1) + here[n & 63];
}

static int recurse(void)
{
	volatile int n = 0;

	return deeper(&n, 0) ? SUCCESS : TRIED;
}

static int read_outside(void)
{
	volatile uintptr_t at = __builtin_wasm_memory_size(0) * PAGE + PAGE;
	volatile char c = *(volatile char *)(at + 64);

	(void)c;
	return SUCCESS;
}

/* The host reads and writes at addresses that it is given. */
static int give_outside(void)
{
	__wasi_ciovec_t from = {(const uint8_t *)0xfffffff0u, 4096};
	__wasi_iovec_t to = {(uint8_t *)0xffffff00u, 0xffffffffu};
	size_t n;
	int code = __wasi_fd_write(1, &from, 1, &n);

	if (code)
		code = __wasi_fd_read(0, &to, 1, &n);
	if (code)
		code = __wasi_random_get((uint8_t *)0xfffffff0u, 4096);
	return code;
}

static int call_other(void)
{
	volatile uintptr_t f = (uintptr_t)leaked_fds;
	double (*other)(double, double, double) = (void *)f;

	return other(1, 2, 3) > 0 ? SUCCESS : TRIED;
}

static int call_none(void)
{
	volatile uintptr_t f = 0xfffffu;

	return ((int (*)(void))f)();
}

static int flood(void)
{
	static char page[4096];

	memset(page, 'x', sizeof page);
	for (int i = 0; i < 16384; i++)
		if (fwrite(page, 1, sizeof page, stdout) != sizeof page)
			return __WASI_ERRNO_IO;
	return SUCCESS;
}

static int forge(void)
{
	printf("{\"id\":\"r_0\",\"status\":\"ok\",\"exit_code\":0}\n");
	fflush(stdout);
	__wasi_proc_exit(1);
}

static const struct attack {
	const char *name;
	int (*run)(void);
} attacks[] = {
	{"read_secret", read_secret},	  {"climb_dots", climb_dots},
	{"follow_links", follow_links},	  {"write_granted", write_granted},
	{"create_beside", create_beside}, {"make_link", make_link},
	{"leaked_fds", leaked_fds},	  {"read_environ", read_environ},
	{"use_sockets", use_sockets},	  {"move_fds", move_fds},
	{"grow_memory", grow_memory},	  {"grow_at_once", grow_at_once},
	{"spin", spin},			  {"sleep_long", sleep_long},
	{"recurse", recurse},		  {"read_outside", read_outside},
	{"give_outside", give_outside},	  {"call_other", call_other},
	{"call_none", call_none},	  {"flood", flood},
	{"forge", forge},
};

static const struct {
	int code;
	const char *name;
} names[] = {
	{__WASI_ERRNO_ACCES, "EACCES"},	  {__WASI_ERRNO_BADF, "EBADF"},
	{__WASI_ERRNO_FAULT, "EFAULT"},	  {__WASI_ERRNO_INVAL, "EINVAL"},
	{__WASI_ERRNO_IO, "EIO"},	  {__WASI_ERRNO_ISDIR, "EISDIR"},
	{__WASI_ERRNO_LOOP, "ELOOP"},	  {__WASI_ERRNO_NOENT, "ENOENT"},
	{__WASI_ERRNO_NOMEM, "ENOMEM"},	  {__WASI_ERRNO_NOSYS, "ENOSYS"},
	{__WASI_ERRNO_NOTDIR, "ENOTDIR"}, {__WASI_ERRNO_NOTSOCK, "ENOTSOCK"},
	{__WASI_ERRNO_PERM, "EPERM"},	  {__WASI_ERRNO_ROFS, "EROFS"},
	{__WASI_ERRNO_NOTCAPABLE, "ENOTCAPABLE"},
};

static int say(int code)
{
	const char *name = "another_error";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code)
			name = names[i].name;
	if (code == TRIED)
		printf("\ntried\n");
	else if (code)
		printf("\nstopped %s\n", name);
	else
		printf("\nSUCCESS\n");
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	secret = argv[2];
	for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++)
		if (!strcmp(argv[1], attacks[i].name))
			return say(attacks[i].run());
	return 2;
}

/* Programs that do not end, or take more than they may. */
#include <poll.h>
#include <time.h>
#include <wasm_simd128.h>

#include "guest.h"

static volatile int sink;

static int loop(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		sink++;
}

static int empty_loop(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		__asm__ volatile("");
}

static int nested_loop(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		for (int i = 0; i < 1000; i++)
			for (int j = 0; j < 1000; j++)
				sink += j;
}

static int simd_loop(int argc, char **argv)
{
	v128_t v = wasm_i32x4_splat(argc);

	(void)argv;
	for (;;) {
		v = wasm_i32x4_add(v, wasm_i32x4_const_splat(3));
		__asm__ volatile("" ::"r"(&v) : "memory");
	}
}

static int nap(int argc, char **argv)
{
	struct timespec t = {atoll(argv[1]), 0};

	(void)argc;
	return say(nanosleep(&t, NULL));
}

/* Subscriptions of a clock with the largest timeouts there are. */
static int nap_longest(int argc, char **argv)
{
	__wasi_subscription_t s = {.u = {.tag = __WASI_EVENTTYPE_CLOCK}};
	__wasi_event_t e;
	__wasi_size_t n;

	(void)argc;
	s.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
	s.u.u.clock.timeout = UINT64_MAX;
	s.u.u.clock.flags = strcmp(argv[1], "absolute")
				    ? 0
				    : __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME;
	return say_errno(__wasi_poll_oneoff(&s, &e, 1, &n));
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* First event wins: 100 ms against an hour, and against standard input. */
static int poll_first(int argc, char **argv)
{
	__wasi_subscription_t s[2] = {
		{.userdata = 1, .u = {.tag = __WASI_EVENTTYPE_CLOCK}},
		{.userdata = 2, .u = {.tag = __WASI_EVENTTYPE_CLOCK}},
	};
	__wasi_event_t e[2];
	__wasi_size_t n = 0;
	uint64_t began = now_ms();
	int rc;

	(void)argc;
	s[0].u.u.clock.id = s[1].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
	s[0].u.u.clock.timeout = 100000000;
	s[1].u.u.clock.timeout = 3600000000000;
	if (!strcmp(argv[1], "stdin")) {
		s[1].u.tag = __WASI_EVENTTYPE_FD_READ;
		s[1].u.u.fd_read.file_descriptor = 0;
	}
	rc = __wasi_poll_oneoff(s, e, 2, &n);
	printf("%s n=%u first=%llu ms=%llu\n", errno_name(rc), (unsigned)n,
	       n ? (unsigned long long)e[0].userdata : 0,
	       (unsigned long long)(now_ms() - began));
	return 0;
}

static int grow(int argc, char **argv)
{
	size_t pages = 0;

	(void)argc, (void)argv;
	while (__builtin_wasm_memory_grow(0, 16) != (size_t)-1) {
		char *p = (char *)(__builtin_wasm_memory_size(0) * 65536ul);

		for (size_t i = 1; i <= 16; i++)
			p[-(long)(i * 65536)] = 1;
		pages += 16;
	}
	printf("refused after %zu pages\n", pages);
	return 0;
}

static int allocate(int argc, char **argv)
{
	size_t bytes = (size_t)atoll(argv[1]);
	char *p = malloc(bytes);

	(void)argc;
	if (!p)
		return say_errno(ENOMEM);
	memset(p, 7, bytes);
	sink = p[bytes / 2];
	printf("ok\n");
	return 0;
}

static int recurse(int n)
{
	volatile char frame[64] = {(char)n};

	return n < 0 ? 0 : recurse(n + 1) + frame[n & 63];
}

static int deep(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", recurse(argc));
	return 0;
}

static int flood(int argc, char **argv)
{
	static char part[1000];

	(void)argc;
	memset(part, 'x', sizeof(part));
	for (;;)
		if (write(atoi(argv[1]), part, sizeof(part)) < 0)
			return say(-1);
}

static int flood_bytes(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		if (write(1, "y", 1) < 0)
			return say(-1);
}

extern int32_t raw_write(int32_t, int32_t, int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("fd_write")));
extern int32_t raw_read(int32_t, int32_t, int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("fd_read")));
extern int32_t raw_random(int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("random_get")));
extern int32_t raw_poll(int32_t, int32_t, int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("poll_oneoff")));
extern int32_t raw_readdir(int32_t, int32_t, int32_t, int64_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("fd_readdir")));
extern int32_t raw_args(int32_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("args_sizes_get")));
extern int32_t raw_clock(int32_t, int64_t, int32_t)
	__attribute__((import_module("wasi_snapshot_preview1"),
		       import_name("clock_time_get")));

/* Says what a call came to, and the time since this was last called. */
static void told(const char *name, int e)
{
	static uint64_t last;
	uint64_t now = now_ms();

	if (name)
		printf("%s: %s %llu\n", name, errno_name(e),
		       (unsigned long long)(now - last));
	last = now;
}

/* Counts and pointers no program needs; each must be an errno, at once. */
static int huge(int argc, char **argv)
{
	int32_t out = (int32_t)(intptr_t)&sink;

	(void)argc, (void)argv;
	told(NULL, 0);
	told("write 2^28", raw_write(1, 0, 1 << 28, out));
	told("write 10^7", raw_write(1, 0, 10000000, out));
	told("write -1", raw_write(1, 0, -1, out));
	told("write end", raw_write(1, -8, 1, out));
	told("write wrap", raw_write(1, -4, 1, out));
	told("write ret", raw_write(1, 16, 0, -2));
	told("read 10^7", raw_read(0, 0, 10000000, out));
	told("random 4G", raw_random(0, -1));
	told("random end", raw_random(-16, 32));
	told("poll 10^7", raw_poll(0, 0, 10000000, out));
	told("poll -1", raw_poll(0, 0, -1, out));
	told("poll 0", raw_poll(0, 0, 0, out));
	told("readdir 2G", raw_readdir(3, 0, 0x7fffffff, 0, out));
	told("args end", raw_args(-1, -1));
	told("clock end", raw_clock(0, 0, -4));
	told("clock 99", raw_clock(99, 0, out));
	return 0;
}

/* Writes a marker over all memory; told whether it was there before. */
static int marker(int argc, char **argv)
{
	uint64_t word = 0x5ca1ab1e0ddba11ull ^ 0x1111;
	size_t bytes = (size_t)atoll(argv[1]), seen = 0, odd = 0;
	uint64_t *p;

	(void)argc;
	p = (uint64_t *)(__builtin_wasm_memory_size(0) * 65536ul);
	if (__builtin_wasm_memory_grow(0, bytes / 65536) == (size_t)-1)
		return say_errno(ENOMEM);
	for (size_t i = 0; i < bytes / 8; i++) {
		seen += p[i] == word;
		odd += p[i] != 0;
		p[i] = word;
	}
	printf("seen %zu odd %zu\n", seen, odd);
	if (argc > 2 && !strcmp(argv[2], "trap"))
		__builtin_trap();
	if (argc > 2 && !strcmp(argv[2], "loop"))
		return loop(argc, argv);
	return 0;
}

static int leave(int argc, char **argv)
{
	(void)argc;
	exit(atoi(argv[1]));
}

static int trap(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("before\n");
	fflush(stdout);
	__builtin_trap();
}

static int copy_input(int argc, char **argv)
{
	char part[4096];
	size_t n;

	(void)argc, (void)argv;
	while ((n = fread(part, 1, sizeof(part), stdin)))
		fwrite(part, 1, n, stdout);
	return 0;
}

extern char **environ;

static int show(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("arg %s\n", argv[i]);
	for (char **e = environ; e && *e; e++)
		printf("env %s\n", *e);
	return 0;
}

/* After standard output is closed: a write must fail, the rest go on. */
static int close_out(int argc, char **argv)
{
	(void)argc, (void)argv;
	printf("partial");
	fflush(stdout);
	close(1);
	fprintf(stderr, "%s\n", write(1, "x", 1) < 0 ? errno_name(errno) : "ok");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct command table[] = {
		{"loop", loop},		  {"empty-loop", empty_loop},
		{"nested-loop", nested_loop}, {"simd-loop", simd_loop},
		{"sleep", nap},		  {"sleep-longest", nap_longest},
		{"poll", poll_first},	  {"grow", grow},
		{"allocate", allocate},	  {"deep", deep},
		{"flood", flood},	  {"flood-bytes", flood_bytes},
		{"huge", huge},		  {"marker", marker},
		{"exit", leave},	  {"trap", trap},
		{"copy", copy_input},	  {"show", show},
		{"close-out", close_out}, {0},
	};

	return guest_main(table, argc, argv);
}

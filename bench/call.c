/* bench_call: runs of libredoma, timed from outside and told from inside.
 *
 * bench_call INSTALL MODE SOURCE N GAP_US POLICY-OPTION...
 *	N runs of one caller, GAP_US apart.  A line of wall nanoseconds, then
 *	(of further runs) a line of "cpu_us reset_us page_faults" a run.
 * bench_call INSTALL rate:CALLERS SOURCE SECONDS 0 POLICY-OPTION...
 *	CALLERS threads, each with a handle of its own, as often as they can;
 *	prints runs per second.
 * bench_call INSTALL flat SOURCE N GAP_US POLICY-OPTION...
 *	N runs; a line of the resident KiB and open descriptors of this process
 *	after a tenth of them and after all.
 * bench_call INSTALL loud SOURCE SECONDS 0 POLICY-OPTION...
 *	One run after the other of whatever status for that time, by a tenant
 *	of its own; prints their number.
 * bench_call INSTALL tools:BATCH SOURCE RUNS 0 POLICY-OPTION...
 *	RUNS runs, whose tools answer null at once; prints the nanoseconds from
 *	one call to the next of a batch's first ones, divided by BATCH.
 * MODE is time; SOURCE a .js, .py or .wasm file; an option is KEY=VALUE of
 * redoma_policy_with, or "native": the source is run natively, or image=NAME. */
#include <redoma.h>

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SOURCE_MAX (8u << 20)
#define CALLERS_MAX 16
#define WARM_RUNS 50
#define WARM_NATIVE 3

struct bench {
	struct redoma_options options;
	struct redoma_policy *policy;
	struct redoma_request request;
	const char *mode;
	long n, gap_us;
};

static void die(const char *what, const struct redoma_error *e)
{
	fprintf(stderr, "bench_call: %s: %s\n", what, e ? e->text : "");
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pause_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};

	if (us)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static char *read_source(const char *path, uint64_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	char *p = malloc(SOURCE_MAX);
	size_t n;

	if (!f || !p)
		die(path, NULL);
	n = fread(p, 1, SOURCE_MAX, f);
	if (ferror(f) || n == SOURCE_MAX)
		die(path, NULL);
	fclose(f);
	*ret_len = n;
	return p;
}

static void add_option(struct bench *b, char *option)
{
	struct redoma_policy *p = NULL;
	struct redoma_error e;
	char *value = strchr(option, '=');

	if (!value)
		die(option, NULL);
	*value++ = '\0';
	if (redoma_policy_with(b->policy, option, value, NULL, &p, &e))
		die(option, &e);
	redoma_policy_free(b->policy);
	b->policy = p;
}

static struct redoma *open_handle(const struct bench *b)
{
	struct redoma *h = NULL;
	struct redoma_error e;

	if (redoma_open(b->policy, &b->options, &h, &e))
		die("open", &e);
	return h;
}

static struct redoma_result *run_any(const struct bench *b, struct redoma *h)
{
	struct redoma_result *res = NULL;
	struct redoma_error e;

	if (redoma_run(h, &b->request, &res, &e))
		die("run", &e);
	return res;
}

static struct redoma_result *run(const struct bench *b, struct redoma *h)
{
	struct redoma_result *res = run_any(b, h);

	if (redoma_result_status(res) != REDOMA_STATUS_OK)
		die("the guest", NULL);
	return res;
}

static long warm_runs(const struct bench *b)
{
	return b->request.native ? WARM_NATIVE : WARM_RUNS;
}

static unsigned long number(const char *json, const char *key)
{
	const char *at = json ? strstr(json, key) : NULL;

	return at ? strtoul(at + strlen(key), NULL, 10) : 0;
}

static void tell_inside(struct redoma_result *res)
{
	const char *json = redoma_result_json(res, NULL);

	printf("%lu %lu %lu\n", number(json, "\"cpu_us\":"),
	       number(json, "\"reset_us\":"),
	       number(json, "\"page_faults\":"));
}

static void distribution(const struct bench *b)
{
	struct redoma *h = open_handle(b);
	uint64_t *t = malloc((size_t)b->n * sizeof *t);
	long i;

	if (!t)
		die("memory", NULL);
	for (i = 0; i < warm_runs(b); i++) {
		redoma_result_free(run(b, h));
		pause_us(b->gap_us);
	}
	for (i = 0; i < b->n; i++) {
		uint64_t from;

		pause_us(b->gap_us);
		from = now_ns();
		redoma_result_free(run(b, h));
		t[i] = now_ns() - from;
	}
	for (i = 0; i < b->n; i++)
		printf("%llu ", (unsigned long long)t[i]);
	printf("\n");
	for (i = 0; i < b->n / 4; i++) {
		struct redoma_result *res;

		pause_us(b->gap_us);
		res = run(b, h);
		tell_inside(res);
		redoma_result_free(res);
	}
	free(t);
	redoma_close(h);
}

struct caller {
	const struct bench *b;
	pthread_barrier_t *start;
	pthread_t thread;
	uint64_t runs, ns;
};

static void *call(void *data)
{
	struct caller *c = data;
	struct redoma *h = open_handle(c->b);
	uint64_t from;
	long i;

	for (i = 0; i < warm_runs(c->b); i++)
		redoma_result_free(run(c->b, h));
	pthread_barrier_wait(c->start);
	from = now_ns();
	do {
		redoma_result_free(run(c->b, h));
		c->runs++;
		c->ns = now_ns() - from;
	} while (c->ns < (uint64_t)c->b->n * 1000000000);
	redoma_close(h);
	return NULL;
}

static void rate(const struct bench *b, int callers)
{
	struct caller c[CALLERS_MAX] = {{0}};
	pthread_barrier_t start;
	double sum = 0;
	int i;

	if (callers < 1 || callers > CALLERS_MAX)
		die("between 1 and 16 callers", NULL);
	pthread_barrier_init(&start, NULL, (unsigned)callers);
	for (i = 0; i < callers; i++) {
		c[i].b = b;
		c[i].start = &start;
		if (pthread_create(&c[i].thread, NULL, call, &c[i]))
			die("thread", NULL);
	}
	for (i = 0; i < callers; i++) {
		pthread_join(c[i].thread, NULL);
		sum += (double)c[i].runs * 1e9 / (double)c[i].ns;
	}
	printf("%.1f\n", sum);
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = -1;

	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		die("/proc/self/statm", NULL);
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void flat(const struct bench *b)
{
	struct redoma *h = open_handle(b);

	for (long i = 1; i <= b->n; i++) {
		redoma_result_free(run(b, h));
		pause_us(b->gap_us);
		if (i == b->n / 10 || i == b->n)
			printf("%ld %ld\n", resident_kib(), count_fds());
	}
	redoma_close(h);
}

static void loud(struct bench *b)
{
	struct redoma *h = open_handle(b);
	uint64_t until = now_ns() + (uint64_t)b->n * 1000000000;
	long runs = 0;

	b->request.tenant = "loud";
	for (; now_ns() < until; runs++)
		redoma_result_free(run_any(b, h));
	printf("%ld\n", runs);
	redoma_close(h);
}

struct arrivals {
	long batch, n;
	uint64_t last;
};

static void on_call(void *data, struct redoma_call *c)
{
	struct arrivals *a = data;
	struct redoma_error e;
	uint64_t now;

	if (a->n++ % a->batch == 0) {
		now = now_ns();
		if (a->last)
			printf("%llu ", (unsigned long long)(now - a->last) /
						(unsigned long long)a->batch);
		a->last = now;
	}
	if (redoma_answer(c, "null", 4, &e))
		die("answer", &e);
}

static void tools(struct bench *b, long batch)
{
	struct arrivals a = {.batch = batch};
	struct redoma *h = open_handle(b);

	b->request.on_call = on_call;
	b->request.on_call_data = &a;
	for (long i = 0; i < b->n; i++) {
		redoma_result_free(run(b, h));
		a.n = 0;
		a.last = 0;
	}
	printf("\n");
	redoma_close(h);
}

static const char *language(const char *path)
{
	if (strstr(path, ".js"))
		return "js";
	return strstr(path, ".py") ? "py" : "wasm";
}

int main(int argc, char **argv)
{
	struct bench b = {.options = REDOMA_OPTIONS_INIT,
			  .request = REDOMA_REQUEST_INIT};
	struct redoma_error e;
	char *source;
	int i;

	if (argc < 6) {
		fprintf(stderr, "usage: see bench/call.c\n");
		return 2;
	}
	b.options.install_dir = argv[1];
	b.mode = argv[2];
	source = read_source(argv[3], &b.request.source_len);
	b.request.source = source;
	b.request.language = language(argv[3]);
	b.n = atol(argv[4]);
	b.gap_us = atol(argv[5]);
	if (redoma_policy_parse("", 0, NULL, &b.policy, &e))
		die("policy", &e);
	for (i = 6; i < argc; i++)
		if (!strcmp(argv[i], "native"))
			b.request.native = 1;
		else if (!strncmp(argv[i], "image=", 6))
			b.request.image = argv[i] + 6;
		else
			add_option(&b, argv[i]);
	if (!strncmp(b.mode, "rate:", 5))
		rate(&b, atoi(b.mode + 5));
	else if (!strcmp(b.mode, "flat"))
		flat(&b);
	else if (!strncmp(b.mode, "tools:", 6))
		tools(&b, atol(b.mode + 6));
	else if (!strcmp(b.mode, "loud"))
		loud(&b);
	else
		distribution(&b);
	redoma_policy_free(b.policy);
	free(source);
	return 0;
}

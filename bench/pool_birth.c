/* bench_pool_birth WORKER IMAGE STARTS CHILDREN: what a zygote and its
 * children cost.
 *
 * A line "ready_ns" for each start (exec to ready), a line "parked_us" for each
 * child, a line "round_ns" for each child that was killed until its successor
 * was here, and a line "private_kib" for each parked child (smaps_rollup of
 * proc(5); none if the kernel does not let us read it). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "pool/zygote.h"

#define PER_CPU 5
#define SETTLE_US 300000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void die(const struct redoma_error *e)
{
	fprintf(stderr, "bench_pool_birth: %s\n", e->text);
	exit(1);
}

static struct zygote *start(const struct pool_options *o,
			    const struct pool_want *w)
{
	struct zygote *z = NULL;
	struct redoma_error e;
	uint64_t from = now_ns();

	if (zygote_start(o, w, &z, &e))
		die(&e);
	printf("ready_ns %llu\n", (unsigned long long)(now_ns() - from));
	return z;
}

static size_t listen_all(struct zygote *z, uint64_t wait_us)
{
	struct slot *s;
	size_t n = 0;
	int r = 0;

	while (!r)
		r = zygote_listen(z, wait_us, NULL);
	for (s = z->idle; s; s = s->next)
		n++;
	return n;
}

static void tell_parked(const struct zygote *z)
{
	const struct slot *s;

	for (s = z->idle; s; s = s->next)
		printf("parked_us %u\n", s->ready.us);
}

static void tell_memory(const struct slot *s)
{
	char path[64], line[256];
	unsigned long kib, sum = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", s->pid);
	f = fopen(path, "r");
	if (!f)
		return;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "Private_Clean: %lu", &kib) == 1 ||
		    sscanf(line, "Private_Dirty: %lu", &kib) == 1)
			sum += kib;
	fclose(f);
	if (sum)
		printf("private_kib %lu\n", sum);
}

/* Ends the oldest and waits for the one that takes its place. */
static void replace(struct zygote *z)
{
	struct slot *s = z->idle, *last;
	uint32_t newest = 0;
	struct redoma_error e;
	uint64_t from;

	for (last = s; last; last = last->next)
		if (last->number > newest)
			newest = last->number;
	z->idle = s->next;
	from = now_ns();
	if (syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0))
		perror("bench_pool_birth: kill a worker");
	slot_free(s);
	do {
		if (zygote_listen(z, ZYGOTE_BIRTH_US, &e))
			die(&e);
		for (last = z->idle; last && last->next; last = last->next)
			;
	} while (!last || last->number <= newest);
	printf("round_ns %llu\nparked_us %u\n",
	       (unsigned long long)(now_ns() - from), last->ready.us);
}

int main(int argc, char **argv)
{
	struct pool_options o = {.per_cpu = PER_CPU, .runs_per_worker = 1};
	struct pool_want w = {.tenant = "bench", .profile = 0};
	struct zygote *z = NULL;
	const struct slot *s;
	long i, starts, children;

	if (argc != 5) {
		fprintf(stderr, "usage: see bench/pool_birth.c\n");
		return 2;
	}
	o.worker_path = argv[1];
	w.image_path = argv[2];
	starts = atol(argv[3]);
	children = atol(argv[4]);
	for (i = 0; i < starts; i++) {
		zygote_end(z);
		z = start(&o, &w);
	}
	if (!z || !listen_all(z, SETTLE_US))
		return 1;
	tell_parked(z);
	for (s = z->idle; s; s = s->next)
		tell_memory(s);
	for (i = 0; i < children; i++)
		replace(z);
	zygote_end(z);
	return 0;
}

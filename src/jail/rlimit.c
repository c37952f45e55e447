/* RLIMIT_AS is not among them: the engine reserves gigabytes of address space
 * for each linear memory. */
#include "jail/steps.h"

#include <errno.h>
#include <sys/resource.h>
#include "jail/native_state.h"

/* Timers made before the lock hold theirs; signals of faults are exempt. */
#define SIGNALS_QUEUED 8

#define NATIVE_SIGNALS 1024
#define NATIVE_PROCESSES 4096
#define NATIVE_STACK (8u << 20)

struct row {
	__rlimit_resource_t what;
	rlim_t max;
	const char *words;
};

static const struct row fixed[] = {
	{RLIMIT_CORE, 0, "set the limit of core dumps"},
	{RLIMIT_MEMLOCK, 0, "set the limit of locked memory"},
	{RLIMIT_MSGQUEUE, 0, "set the limit of message queues"},
	{RLIMIT_RTPRIO, 0, "set the limit of real-time priority"},
	{RLIMIT_RTTIME, 0, "set the limit of real-time CPU time"},
	{RLIMIT_NICE, 0, "set the limit of the nice value"},
	{RLIMIT_NPROC, 0, "set the limit of processes"},
	{RLIMIT_LOCKS, 0, "set the limit of file locks"},
	{RLIMIT_SIGPENDING, SIGNALS_QUEUED, "set the limit of queued signals"},
};

static const char *set(const struct row *r)
{
	struct rlimit l = {r->max, r->max};

	return setrlimit(r->what, &l) ? r->words : NULL;
}

/* Only ever down: a hard limit that is lower already stays. */
static const char *lower(struct row r)
{
	struct rlimit old;

	if (getrlimit(r.what, &old))
		return r.words;
	if (old.rlim_max < r.max)
		r.max = old.rlim_max;
	return set(&r);
}

const char *rlimit_apply(const struct jail_options *o)
{
	const struct row given[] = {
		{RLIMIT_DATA, o->memory_bytes, "set the limit of memory"},
		{RLIMIT_STACK, o->stack_bytes, "set the limit of the stack"},
		{RLIMIT_NOFILE, o->max_fds ? o->max_fds : JAIL_MAX_FDS,
		 "set the limit of descriptors"},
	};
	const struct row file = {RLIMIT_FSIZE, o->file_bytes,
				 "set the limit of file sizes"};
	const char *what = NULL;

	for (size_t i = 0; i < sizeof fixed / sizeof *fixed && !what; i++)
		what = set(&fixed[i]);
	for (size_t i = 0; i < sizeof given / sizeof *given && !what; i++)
		what = given[i].max ? lower(given[i]) : NULL;
	return what ? what : lower(file);
}

/* A program that is piped to on a crash is not run at RLIMIT_CORE 1, but is at
 * 0 (core(5)). */
static const struct row native[] = {
	{RLIMIT_CORE, 1, "set the limit of core dumps"},
	{RLIMIT_MEMLOCK, 0, "set the limit of locked memory"},
	{RLIMIT_MSGQUEUE, 0, "set the limit of message queues"},
	{RLIMIT_RTPRIO, 0, "set the limit of real-time priority"},
	{RLIMIT_NICE, 0, "set the limit of the nice value"},
	{RLIMIT_SIGPENDING, NATIVE_SIGNALS, "set the limit of queued signals"},
};

const char *rlimit_native(const struct native *n,
			  const struct native_payload *p)
{
	uint64_t memory = p->memory_bytes ? p->memory_bytes : n->memory_bytes;
	uint64_t pids = p->pids ? p->pids : n->pids;
	/* Where there is a control group, it has the limits of memory and
	 * processes, and they can still be changed. */
	const struct row given[] = {
		{RLIMIT_NPROC, n->grouped ? NATIVE_PROCESSES : pids,
		 "set the limit of processes"},
		{RLIMIT_DATA, n->grouped ? 0 : memory,
		 "set the limit of memory"},
		{RLIMIT_NOFILE, p->max_fds ? p->max_fds : JAIL_MAX_FDS,
		 "set the limit of descriptors"},
		{RLIMIT_CPU, p->cpu_s, "set the limit of CPU time"},
		{RLIMIT_STACK, NATIVE_STACK, "set the limit of the stack"},
	};
	const struct row file = {RLIMIT_FSIZE, p->file_bytes,
				 "set the limit of file sizes"};
	const char *what = NULL;

	for (size_t i = 0; i < sizeof native / sizeof *native && !what; i++)
		what = lower(native[i]);
	for (size_t i = 0; i < sizeof given / sizeof *given && !what; i++)
		what = given[i].max ? lower(given[i]) : NULL;
	return what ? what : lower(file);
}

/* wire/spawn.h - what the core and a zygote say to each other.  Both are of
 * one build: plain structs, checked by SPAWN_ABI. */
#ifndef WIRE_SPAWN_H
#define WIRE_SPAWN_H

#include <stdint.h>
#include "base/reap.h"

#define SPAWN_ABI 5u
#define SPAWN_SLOTS_MAX 256u

/* The zygote's first frame, kind FRAME_SPAWN, with the image's descriptor if
 * has_image. */
struct spawn_setup {
	uint32_t abi;
	uint32_t profile;  /* enum profile */
	uint32_t has_image;
	uint32_t may_lack; /* see jail_options */
	uint32_t single;   /* one child, no warm-up, no refill */
	uint32_t reuse;	   /* children serve many runs */
	uint32_t runs_per_worker;
	uint32_t verify;   /* compare memory with the image after each reset */
	uint32_t n_cpus;   /* children per CPU of cpus[] */
	uint32_t per_cpu;
	uint16_t cpus[SPAWN_SLOTS_MAX];
	/* Of the zygote's control group, with all its children; 0: none. */
	uint64_t group_bytes, group_pids;
};

#define SPAWN_CONTROLS 16

/* FRAME_READY of a zygote, with a pidfd of it, and of a child to its zygote. */
struct spawn_ready {
	uint32_t abi;
	int32_t landlock_abi;
	uint8_t state[SPAWN_CONTROLS]; /* struct jail_report */
	uint32_t fast_reset;
	uint32_t cgroups; /* enum jail_cgroups */
	uint32_t no_proc; /* a native jail without /proc: the host's is masked,
			     so the kernel allows no new one */
	uint32_t us; /* from exec, or from fork */
	int32_t pid; /* of the zygote, as the core sees it */
	/* Of a worker: what it used until it parked. */
	uint64_t used_us, used_faults;
	char engine[32]; /* "wasmtime 48.0.8" */
};

/* FRAME_BORN: a child is locked and parked.  Two descriptors: its socket and
 * its pidfd. */
struct spawn_born {
	uint32_t slot; /* number of this child, never used again */
	int32_t pid;   /* as the zygote's pid namespace sees it */
	int32_t cpu;   /* it is pinned to; -1: not */
	struct spawn_ready ready;
};

#define SPAWN_SLOT_ALL 0u /* of no child: of the zygote, with all of them */

/* FRAME_DEAD. */
struct spawn_dead {
	uint32_t slot;
	int32_t code;	/* si_code: CLD_EXITED, CLD_KILLED, CLD_DUMPED */
	int32_t status; /* exit code or signal */
	uint32_t oom;	/* killed since the zygote's group had no memory left */
	struct reaped used; /* all 0: not known */
};

#endif

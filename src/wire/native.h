/* wire/native.h - what the core, a spawner and init say to each other beside
 * the frames of wire/frame.h that a worker uses too.
 *
 * core -> spawner: SPAWN (struct native_setup), ROOT (its entries), ADMIT, END.
 * spawner -> core: READY (struct spawn_ready), BORN (struct spawn_born; socket
 * and pidfd), ADMITTED, DEAD (struct native_dead), FAILED.
 * core <-> init, on the slot's socket: what core and worker say.  Of the plan's
 * grants a read grant's descriptor is a detached mount, a written file's is its
 * stage; argv[0] names the program for the payload, its file is that of the
 * setup. */
#ifndef WIRE_NATIVE_H
#define WIRE_NATIVE_H

#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "wire/spawn.h"

#define NATIVE_ABI 3u
#define NATIVE_PATH_ROOM 4096
#define NATIVE_AHEAD_ROOM 64
#define NATIVE_ENTRIES_MAX 4096u
#define NATIVE_ROOT_BYTES (8u << 20) /* all ROOT frames together */

struct native_setup {
	uint32_t abi;
	uint32_t may_lack;
	uint32_t park;	    /* jails kept ready; 0: one is made when asked for
			       (an empty FRAME_SPAWN), as with `single` */
	uint32_t bootstrap; /* the payload is started before it parks */
	uint64_t tmp_bytes;
	uint64_t memory_bytes, pids; /* of a jail that is parked */
	uint64_t run_pids; /* of its run, where no control group is; 0: as
			      parked */
	char program[NATIVE_PATH_ROOM];	  /* inside the root */
	char script[NATIVE_PATH_ROOM];	  /* the bootstrap's; "": none */
	char ahead[NATIVE_AHEAD_ROOM];	  /* packages that the bootstrap imports
					     before it parks, "a,b"; "": none */
};

/* One entry of FRAME_ROOT: the meaning of struct native_entry of jail/. */
struct native_item {
	uint32_t kind;
	uint32_t exec;
	const char *guest, *host; /* borrowed */
};

/* Entries as one message; cut into frames by channel_put. */
MUST_CHECK int native_root_encode(const struct native_item *items, size_t n,
				  struct buf *out, struct redoma_error *err);
/* *ret_items is owned (free), its texts borrow from p.  Every count and length
 * is checked. */
MUST_CHECK int native_root_decode(const void *p, size_t len,
				  struct native_item **ret_items, size_t *ret_n,
				  struct redoma_error *err);

/* FRAME_ADMIT, with n_grants descriptors of granted files and directories. */
struct native_admit {
	uint32_t slot;
	uint32_t n_grants;
	uint64_t memory_bytes, pids, cpu_weight;
};

/* FRAME_ADMITTED: with rc 0 first the descriptor to read CPU use from, if
 * has_cpu, then n_grants detached mounts in the order of ADMIT. */
struct native_admitted {
	uint32_t slot;
	int32_t rc;
	uint32_t has_cpu, n_grants;
	uint32_t uid; /* that only this jail has outside; 0: there is none */
	struct redoma_error why;
};

struct native_end { /* FRAME_END: the run is over, or has to be */
	uint32_t slot;
	uint32_t early; /* DEAD may come once all of it was killed: nothing in
			   it runs any more, but memory is being given back */
};

struct native_dead { /* FRAME_DEAD of a spawner */
	struct spawn_dead end; /* of init */
	uint32_t oom; /* its memory ran out */
	uint32_t has_usage;
	uint64_t cpu_us, memory_peak_bytes, pids_refused;
	uint32_t survivors; /* not even the kill ended it in time */
};

#endif

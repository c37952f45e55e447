/* worker/zygote.h - the trusted parent of workers: loads the engine and the
 * image, enters its namespaces once, and makes locked children.  It never
 * reads a guest byte.  Single-threaded. */
#ifndef WORKER_ZYGOTE_H
#define WORKER_ZYGOTE_H

#include "engine/exec.h"
#include "engine/reset.h"
#include "jail/jail.h"
#include "wasi/wasi.h"
#include "wire/frame.h"
#include "wire/spawn.h"
#include "worker/keeper.h"

#define ZYGOTE_CONTROL_FD 3

struct request;
struct run_result;

/* What every child inherits, ready to use. */
struct kit {
	struct spawn_setup setup;
	struct engine *engine;
	struct wasi *wasi;
	struct exec *exec;
	struct jail *jail;
	struct jail_report report;
	struct keeper keeper;
	struct reset *reset; /* verify mode: what a fresh instance is like */
	bool prepared; /* image_prepare was called */
	uint64_t image_bytes; /* of memory, that no limit counts */
	uint64_t bounds[2];   /* those of the last run; 0: none yet */
	uint64_t page_faults; /* when it parked or ended its last run */
	/* Room for the conversation of a child: allocated once, before it is
	 * forked, so that no child's allocator has to tidy its heap. */
	struct channel *channel;
	struct request *request;
	struct run_result *result;
	uint32_t first_row; /* what the count of a batch's rows began at */
	struct buf rehearsal; /* bytes of a request: rehearse.h */
	char *title; /* argv[0], to show what a process is in ps */
};

/* Fills what a FRAME_READY says. */
void zygote_ready(const struct kit *k, uint64_t since_us,
		  struct spawn_ready *ret);
/* Serves until the core is gone; the exit status of the process. */
int zygote_serve(struct channel *control, char *title);

#endif

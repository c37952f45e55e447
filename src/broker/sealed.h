/* broker/sealed.h - what the core holds for one run: shared by the files of
 * this floor, seen by no other. */
#ifndef BROKER_SEALED_H
#define BROKER_SEALED_H

#include "broker/board.h"
#include "broker/content.h"
#include "broker/seal.h"

/* Beside plan->grants, same index. */
struct held {
	int fd;	      /* owned.  Read file: its bytes; directories: itself;
			 write file: the directory that holds it */
	char *host;   /* owned; as the policy has it, for sentences */
	char *name;   /* owned; write file: its name in fd */
	uint64_t first, len; /* read file: window of fd */
	uint64_t opens_left, bytes_left; /* UINT64_MAX: not counted */
	uint64_t stages; /* write directory: files made and not dropped */
	bool watched;	 /* fd must still be `id` when the run ends */
	struct content_id id;
};

/* One thing the worker may name by number. */
struct handle {
	uint64_t number; /* 0: free */
	int fd;		 /* owned; -1: the grant's own descriptor */
	uint32_t grant;
	bool stage; /* a file being written, else one being read */
	bool used;  /* published */
};

struct sealed {
	struct plan plan;
	struct board *board; /* borrowed, or NULL */
	struct held *held; /* owned array, plan.n_grants */
	struct handle *handles;
	size_t n_handles, room_handles; /* slots used so far, and made */
	size_t open_reads, open_stages;
	uint64_t next_number;
	struct seal_denial denials[SEAL_DENIALS_MAX];
	uint32_t denied_grant[SEAL_DENIALS_MAX];
	size_t n_denials;
	char *scratch; /* owned; CALL_DATA_MAX bytes once a call needs them */
};

#endif

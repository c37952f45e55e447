/* core/handle.h - what a struct redoma holds. */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include <stdatomic.h>
#include <redoma.h>
#include "policy/policy.h"
#include "pool/cache.h"
#include "pool/pool.h"

#define PATH_ROOM 4096

struct redoma {
	struct policy *policy; /* owned */
	struct pool *pool;     /* owned */
	char install[PATH_ROOM]; /* directory of redoma-worker and images/ */
	char worker[PATH_ROOM];
	char compiler[PATH_ROOM];
	struct cache *cache; /* owned; NULL until a module comes */
	char cache_dir[PATH_ROOM]; /* "": compiled modules are not kept */
	char cache_key[PATH_ROOM]; /* file of the cache's key; "" likewise */
	bool verify;
	/* For redoma_cancel: the worker of the run in progress, or -1. */
	_Atomic int running;
	_Atomic int cancelled;
	_Atomic int busy; /* a run is in progress */
};

#endif

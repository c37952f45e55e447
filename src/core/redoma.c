#include <redoma.h>

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/str.h"
#include "core/fit.h"
#include "core/handle.h"
#include "core/install.h"
#include "core/native.h"
#include "core/run.h"
#include "core/usher.h"
#include "policy/diff.h"

#define WHERE "core"

/* The public name is opaque; this is the one place that knows what it is. */
static struct policy *inside(const struct redoma_policy *p)
{
	return (struct policy *)p;
}

int redoma_policy_parse(const char *text, uint64_t len, const char *base_dir,
			struct redoma_policy **ret, struct redoma_error *err)
{
	struct policy *p;
	int r = policy_parse(text, len, base_dir ? base_dir : ".", &p, err);

	if (!r)
		*ret = (struct redoma_policy *)p;
	return r;
}

/* What cannot be read is the caller's mistake, not the system's. */
static int check_policy_file(int fd, const char *path,
			     struct redoma_error *err)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		bool ours = err_is_shortage(errno);
		int r = err_sys(err, WHERE, "cannot open the policy %s", path);

		if (ours)
			return r;
		if (err)
			err->code = REDOMA_E_INVALID;
		return REDOMA_E_INVALID;
	}
	if (S_ISREG(st.st_mode))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the policy %s is not a regular file: name the file "
		       "that holds it",
		       path);
}

/* The last component alone: what to do comes last and must not be cut. */
static void put_file_name(const char *path, struct redoma_error *err)
{
	const char *slash = strrchr(path, '/');
	struct redoma_error was;

	if (!err)
		return;
	was = *err;
	err_set(err, was.code, was.where, "%s: %s",
		SHOW(str_of(slash ? slash + 1 : path)), was.text);
}

int redoma_policy_read(const char *path, struct redoma_policy **ret,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};
	CLEANUP_FREE char *dir = strdup(path);
	CLEANUP_FD int fd = -1;
	int r;

	if (!dir)
		return err_nomem(err, WHERE);
	fd = fd_lift(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
	r = check_policy_file(fd, path, err);
	if (r)
		return r;
	r = fd_read_all(fd, ((size_t)1 << 20), path, &text, err);
	if (r)
		return r;
	r = redoma_policy_parse(text.data ? text.data : "", text.len,
				dirname(dir), ret, err);
	if (r == REDOMA_E_INVALID)
		put_file_name(path, err);
	return r;
}

int redoma_policy_contains(const struct redoma_policy *outer,
			   const struct redoma_policy *inner,
			   struct redoma_error *err)
{
	return policy_contains(inside(outer), inside(inner), err);
}

int redoma_policy_with(const struct redoma_policy *p, const char *key,
		       const char *value, const char *base_dir,
		       struct redoma_policy **ret, struct redoma_error *err)
{
	struct policy *q;
	int r = policy_with(inside(p), key, value, base_dir ? base_dir : ".",
			    &q, err);

	if (!r)
		*ret = (struct redoma_policy *)q;
	return r;
}

int redoma_policy_show(const struct redoma_policy *p, char **ret,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf b = {0};

	if (policy_print(inside(p), &b))
		return err_nomem(err, WHERE);
	*ret = buf_take(&b);
	return *ret ? 0 : err_nomem(err, WHERE);
}

int redoma_policy_diff(const struct redoma_policy *a,
		       const struct redoma_policy *b, char **ret,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf out = {0};
	int r = policy_diff(inside(a), inside(b), &out, err);

	if (!r && buf_add(&out, "", 0))
		r = err_nomem(err, WHERE);
	if (r)
		return r;
	*ret = buf_take(&out);
	return *ret ? 0 : err_nomem(err, WHERE);
}

void redoma_policy_free(struct redoma_policy *p)
{
	policy_free(inside(p));
}

void redoma_free(void *p)
{
	free(p);
}

static int make_pool(struct redoma *h, const struct redoma_options *o,
		     struct redoma_error *err)
{
	struct pool_options po = {
		.worker_path = h->worker,
		.per_cpu = o->warm ? (uint32_t)o->warm : 2,
		.runs_per_worker = o->runs_per_worker
					   ? (uint32_t)o->runs_per_worker
					   : 1000,
		.single = o->single != 0,
		.verify = o->verify != 0,
	};
	struct jails_options jo = {.init_path = h->init,
				   .single = po.single};
	int r;

	if (o->warm > 64 || o->runs_per_worker > UINT32_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "warm is at most 64 workers a CPU");
	h->verify = po.verify;
	h->single = po.single;
	r = pool_new(&po, &h->pool, err);
	return r ? r : jails_new(&jo, &h->jails, err);
}

/* Who runs once asks for nothing again. */
static uint64_t answers_bytes(const struct redoma_options *o)
{
	if (o->single || o->formula_cache == 1)
		return 0;
	return o->formula_cache ? o->formula_cache : FORMULA_CACHE_BYTES;
}

static void cleanup_handle(struct redoma **h)
{
	redoma_close(*h);
}

int redoma_open(const struct redoma_policy *p, const struct redoma_options *o,
		struct redoma **ret, struct redoma_error *err)
{
	CLEANUP(cleanup_handle) struct redoma *h = calloc(1, sizeof *h);
	struct redoma_options known = REDOMA_OPTIONS_INIT;
	int r = 0;

	if (!h)
		return err_nomem(err, WHERE);
	atomic_store(&h->running, -1);
	atomic_store(&h->asked, -1);
	h->owner = getpid();
	if (o)
		r = fit_struct(&known, sizeof known, o, o->size, err);
	if (!r)
		r = p ? policy_copy(inside(p), &h->policy, err)
		      : policy_parse("", 0, ".", &h->policy, err);
	if (!r)
		r = install_find(h, known.install_dir, err);
	if (r)
		return r;
	h->answers_bytes = answers_bytes(&known);
	r = install_cache(h, known.cache_dir, err);
	if (!r)
		r = install_incidents(h, known.incident_dir, err);
	if (!r)
		r = make_pool(h, &known, err);
	if (r)
		return r;
	*ret = TAKE_PTR(h);
	return 0;
}

/* Frees what is no longer used by anybody. */
static void destroy(struct redoma *h)
{
	if (h->owner == getpid()) {
		pool_free(h->pool);
		jails_free(h->jails);
		usher_free(h->usher);
	} else {
		pool_forget(h->pool);
		jails_forget(h->jails);
		usher_forget(h->usher);
	}
	formula_cache_free(h->answers);
	native_cache_free(h->native);
	cache_free(h->cache);
	policy_free(h->policy);
	free(h);
}

/* Whoever closes the handle from now on frees it; who did so before could not,
 * and left it to us. */
void handle_end(struct redoma *h)
{
	int was = HANDLE_RUNNING;
	bool closed = !atomic_compare_exchange_strong(&h->busy, &was,
						      HANDLE_ENDING);

	while (atomic_load(&h->cancelling))
		sched_yield();
	if (closed) {
		destroy(h);
		return;
	}
	atomic_store(&h->cancelled, 0);
	atomic_store(&h->busy, HANDLE_IDLE);
}

int handle_begin(struct redoma *h, struct redoma_error *err)
{
	int idle = HANDLE_IDLE;

	if (h->owner != getpid())
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this handle belongs to the process that opened "
			       "it: after a fork, open another one");
	if (!atomic_compare_exchange_strong(&h->busy, &idle, HANDLE_RUNNING))
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       "a run is in progress on this handle: give each "
			       "thread a handle of its own");
	return 0;
}

int redoma_run(struct redoma *h, const struct redoma_request *q,
	       struct redoma_result **ret, struct redoma_error *err)
{
	struct redoma_request known;
	int r;

	if (!h || !q || !ret)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "redoma_run needs a handle, a request and a "
			       "place for the result");
	r = handle_begin(h, err);
	if (r)
		return r;
	r = fit_struct(&known, sizeof known, q, q->size, err);
	if (!r)
		r = run_request(h, &known, ret, err);
	handle_end(h);
	return r;
}

int redoma_stats(const struct redoma *h, struct redoma_stats *ret,
		 struct redoma_error *err)
{
	struct redoma_stats now;
	size_t n;

	if (!h || !ret || ret->size < sizeof ret->size)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "redoma_stats needs a handle and a struct whose "
			       "size is set (REDOMA_STATS_INIT)");
	now = h->stats;
	pool_count(h->pool, &now.zygotes, &now.parked);
	jails_count(h->jails, &now.spawners, &now.jails);
	/* What an older caller has no room for stays out; what a newer one has
	 * more stays as it set it. */
	n = ret->size < sizeof now ? ret->size : sizeof now;
	now.size = ret->size;
	memcpy(ret, &now, n);
	return 0;
}

int handle_random(struct redoma *h, void *p, size_t n)
{
	if (n > h->random_left) {
		if (hash_random(h->random, sizeof h->random))
			return -1;
		h->random_left = sizeof h->random;
	}
	h->random_left -= n;
	memcpy(p, h->random + h->random_left, n);
	return 0;
}

void handle_calm(struct redoma *h, _Atomic int *what, int value)
{
	atomic_store(what, value);
	while (atomic_load(&h->cancelling))
		sched_yield();
}

/* By callers that are counted in `cancelling`. */
static void stop(struct redoma *h)
{
	int fd;

	atomic_store(&h->cancelled, 1);
	fd = atomic_load(&h->running);
	if (fd >= 0)
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	/* One that is stuck in a file system does not end when it is killed:
	 * this wakes who waits for it. */
	fd = atomic_load(&h->asked);
	if (fd >= 0)
		shutdown(fd, SHUT_RDWR);
}

void redoma_cancel(struct redoma *h)
{
	if (!h || h->owner != getpid())
		return;
	atomic_fetch_add(&h->cancelling, 1);
	if (atomic_load(&h->busy) == HANDLE_RUNNING)
		stop(h);
	atomic_fetch_sub(&h->cancelling, 1);
}

void redoma_close(struct redoma *h)
{
	int was = HANDLE_RUNNING;
	bool runs;

	if (!h)
		return;
	if (h->owner != getpid()) {
		destroy(h);
		return;
	}
	atomic_fetch_add(&h->cancelling, 1);
	runs = atomic_compare_exchange_strong(&h->busy, &was, HANDLE_CLOSED);
	if (runs)
		stop(h);
	/* From here on the run may free it. */
	atomic_fetch_sub(&h->cancelling, 1);
	if (runs || was == HANDLE_CLOSED)
		return;
	while (atomic_load(&h->busy) == HANDLE_ENDING)
		sched_yield();
	destroy(h);
}

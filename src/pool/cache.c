#include "pool/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "pool/entry.h"
#include "pool/key.h"

#define WHERE "cache"
#define KEPT 8 /* artefacts held in memory */
#define KEPT_BYTES ((off_t)32 << 20)
#define CPUINFO_BYTES 8192
#define LOCK_LOOK_US 2000
#define LOCK_WAIT_US ((uint64_t)(COMPILE_SECONDS + 5) * 1000000)

_Static_assert(CACHE_DIGEST == HASH_BYTES, "SHA-256");

struct kept {
	uint8_t name[ENTRY_NAME];
	int fd; /* -1: free */
	uint64_t used;
};

struct cache {
	struct entry_dir dir;
	uint8_t key[KEY_BYTES];
	uint8_t features[HASH_BYTES]; /* of this CPU */
	struct kept kept[KEPT];
	uint64_t clock;
	char problem[200];
};

/* Machine code made for one CPU may use what another lacks.  The kernel lists
 * the features in a line that begins so on x86, respectively on ARM.  -1 with
 * errno for want of something: guessing would rename every entry. */
static int read_features(uint8_t ret[HASH_BYTES])
{
	static const char *const words[] = {"flags", "Features"};
	char text[CPUINFO_BYTES + 1] = "";
	CLEANUP_FD int fd =
		fd_lift(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
	const char *line = NULL;
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, text, CPUINFO_BYTES)) < 0 &&
	       errno == EINTR)
		;
	if (n < 0 && err_is_shortage(errno))
		return -1;
	text[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < 2 && !line; i++)
		line = strstr(text, words[i]);
	if (!line)
		line = "";
	hash_sha256(line, strcspn(line, "\n"), ret);
	return 0;
}

static int open_dir(struct cache *c, const char *dir)
{
	CLEANUP_FD int fd = -1;
	const char *fault = NULL;
	struct stat st;
	int sys = 0;

	if (!key_make_dirs(dir))
		fd = fd_lift(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
					       O_NOFOLLOW));
	if (fd < 0 || fstat(fd, &st)) {
		sys = errno;
		fault = strerror(sys);
	} else if (st.st_uid != geteuid())
		fault = "it belongs to another user";
	else if (st.st_mode & 022)
		fault = "others can write to it; chmod go-w";
	else if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS))
		fault = "it cannot be written to";
	if (fault) {
		snprintf(c->problem, sizeof(c->problem),
			 "the cache %s cannot be used: %s", dir, fault);
		errno = sys;
		return -1;
	}
	c->dir.fd = TAKE_FD(fd);
	return 0;
}

static void cleanup_cache(struct cache **c)
{
	cache_free(*c);
}

int cache_open(const struct cache_options *o, struct cache **ret,
	       struct redoma_error *err)
{
	CLEANUP(cleanup_cache) struct cache *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(err, WHERE);
	c->dir.fd = -1;
	c->dir.key = c->key;
	c->dir.max_bytes = o->max_bytes ? o->max_bytes : CACHE_BYTES;
	for (size_t i = 0; i < KEPT; i++)
		c->kept[i].fd = -1;
	if (read_features(c->features))
		return err_sys(err, WHERE, "ask for this CPU's features");
	if (!o->dir || !o->dir[0] || !o->key_file || !o->key_file[0])
		snprintf(c->problem, sizeof(c->problem),
			 "there is no directory for a cache");
	else if ((key_read(o->key_file, c->key, c->problem,
			   sizeof(c->problem)) ||
		  open_dir(c, o->dir)) && err_is_shortage(errno))
		return err_sys(err, WHERE, "open the cache %s", o->dir);
	*ret = TAKE_PTR(c);
	return 0;
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < KEPT; i++)
		if (c->kept[i].fd >= 0)
			close(c->kept[i].fd);
	if (c->dir.fd >= 0)
		close(c->dir.fd);
	hash_wipe(c->key, sizeof(c->key));
	free(c);
}

const char *cache_problem(const struct cache *c)
{
	return c->problem[0] ? c->problem : NULL;
}

/* Another build of the compiler is another file, or the same one changed. */
static void name_entry(const struct cache *c, const struct compile_options *o,
		       const uint8_t digest[CACHE_DIGEST],
		       uint8_t ret[ENTRY_NAME])
{
	static const char version[] = "redoma " REDOMA_VERSION;
	uint64_t build[4] = {o->profile};
	struct stat st;
	struct hash h;

	if (!stat(o->program, &st)) {
		build[1] = (uint64_t)st.st_size;
		build[2] = (uint64_t)st.st_mtim.tv_sec;
		build[3] = (uint64_t)st.st_mtim.tv_nsec;
	}
	hash_init(&h);
	hash_add(&h, version, sizeof(version));
	hash_add(&h, build, sizeof(build));
	hash_add(&h, c->features, sizeof(c->features));
	hash_add(&h, digest, CACHE_DIGEST);
	hash_end(&h, ret);
}

static int recall(struct cache *c, const uint8_t name[ENTRY_NAME])
{
	for (size_t i = 0; i < KEPT; i++) {
		struct kept *k = &c->kept[i];

		if (k->fd < 0 || memcmp(k->name, name, ENTRY_NAME))
			continue;
		k->used = ++c->clock;
		return fd_lift(fcntl(k->fd, F_DUPFD_CLOEXEC, 3));
	}
	return -1;
}

static void remember(struct cache *c, const uint8_t name[ENTRY_NAME], int fd)
{
	struct kept *oldest = &c->kept[0];
	struct stat st;
	int copy;

	if (fstat(fd, &st) || st.st_size > KEPT_BYTES)
		return;
	for (size_t i = 1; i < KEPT; i++)
		if (c->kept[i].used < oldest->used)
			oldest = &c->kept[i];
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return;
	if (oldest->fd >= 0)
		close(oldest->fd);
	memcpy(oldest->name, name, ENTRY_NAME);
	oldest->fd = copy;
	oldest->used = ++c->clock;
}

/* The caller's memory may have changed since its digest was made: what is kept
 * under that name must be made of those very bytes. */
static int check_copy(const struct cache_module *m, int fd,
		      struct redoma_error *err)
{
	uint8_t block[1 << 14], digest[HASH_BYTES];
	struct hash h;
	size_t at = 0;

	hash_init(&h);
	while (at < m->len) {
		ssize_t n = pread(fd, block, sizeof(block), (off_t)at);

		if (n <= 0)
			return err_sys(err, WHERE, "read the module's copy");
		hash_add(&h, block, (size_t)n);
		at += (size_t)n;
	}
	hash_end(&h, digest);
	if (!memcmp(digest, m->digest, sizeof(digest)))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the module's bytes changed while it was read: leave "
		       "them alone until the run has ended");
}

static int compile_now(const struct compile_options *o,
		       const struct cache_module *m, int *ret_fd,
		       struct redoma_error *err)
{
	CLEANUP_FD int in = -1;
	int rc;

	if (m->len > COMPILE_MODULE)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module has %zu MiB, at most %llu are "
			       "allowed; strip its debug information or build "
			       "it smaller",
			       m->len >> 20,
			       (unsigned long long)COMPILE_MODULE >> 20);
	in = fd_sealed("redoma-module", m->p, m->len);
	if (in < 0)
		return err_sys(err, WHERE, "copy the module");
	rc = check_copy(m, in, err);
	return rc ? rc : compile_module(o, in, ret_fd, NULL, err);
}

struct job {
	const struct compile_options *o;
	const struct cache_module *module;
	uint8_t name[ENTRY_NAME];
	bool compiled;
};

/* Waits while another process makes the entry. */
static int lock_entry(const struct cache *c, const struct job *j)
{
	const struct timespec pause = {.tv_nsec = LOCK_LOOK_US * 1000};
	uint64_t end = clock_monotonic_us() + LOCK_WAIT_US;

	for (;;) {
		int fd = entry_lock(&c->dir, j->name);

		if (fd >= 0 || errno != EWOULDBLOCK ||
		    clock_monotonic_us() >= end || compile_cancelled(j->o))
			return fd;
		nanosleep(&pause, NULL);
	}
}

/* Once, even if several processes want it now.  Without a lock it is compiled
 * and not kept: whoever holds the lock keeps it. */
static int make_entry(struct cache *c, struct job *j, int *ret_fd,
		      struct redoma_error *err)
{
	int lock = lock_entry(c, j);
	int fd = lock < 0 ? -1 : entry_read(&c->dir, j->name);
	int rc = 0;

	if (fd < 0) {
		rc = compile_now(j->o, j->module, &fd, err);
		j->compiled = !rc;
		if (!rc && lock >= 0) {
			entry_write(&c->dir, j->name, fd);
			entry_evict(&c->dir);
		}
	}
	entry_unlock(&c->dir, j->name, lock);
	if (!rc)
		*ret_fd = fd;
	return rc;
}

static int find_or_make(struct cache *c, struct job *j, int *ret_fd,
			struct redoma_error *err)
{
	int fd, rc;

	if (c->dir.fd < 0) {
		rc = compile_now(j->o, j->module, ret_fd, err);
		j->compiled = !rc;
		return rc;
	}
	fd = entry_read(&c->dir, j->name);
	if (fd < 0)
		return make_entry(c, j, ret_fd, err);
	*ret_fd = fd;
	return 0;
}

int cache_artefact(struct cache *c, const struct compile_options *o,
		   const struct cache_module *m, int *ret_fd,
		   bool *ret_compiled, struct redoma_error *err)
{
	struct job j = {.o = o, .module = m};
	int fd, rc;

	name_entry(c, o, m->digest, j.name);
	fd = recall(c, j.name);
	if (fd < 0) {
		rc = find_or_make(c, &j, &fd, err);
		if (rc)
			return rc;
		remember(c, j.name, fd);
	}
	if (ret_compiled)
		*ret_compiled = j.compiled;
	*ret_fd = fd;
	return 0;
}

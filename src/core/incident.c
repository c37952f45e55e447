#include "core/incident.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/json.h"
#include "core/klog.h"
#include "wire/plan_wire.h"

#define SUFFIX ".json"
#define COARSE_MS 20 /* that a record is stamped too early: a tick, or two */

static void put(struct json_writer *w, const char *key, const char *value)
{
	json_write_key(w, key);
	json_write_text(w, value);
}

static void put_number(struct json_writer *w, const char *key, uint64_t n)
{
	json_write_key(w, key);
	json_write_u64(w, n);
}

static void put_digest(struct json_writer *w, const char *key, const void *p,
		       size_t n)
{
	uint8_t sum[HASH_BYTES];
	char hex[HASH_HEX_MAX];

	hash_sha256(p, n, sum);
	put(w, key, hash_hex(sum, sizeof sum, hex));
}

static void put_plan(struct json_writer *w, const struct granted *g)
{
	CLEANUP(buf_done) struct buf b = {0};
	int fds[FRAME_FDS_MAX];
	size_t n = 0;

	if (g && !plan_encode(granted_plan(g), &b, fds, &n, NULL))
		put_digest(w, "plan_sha256", b.data, b.len);
}

static const char *profile_word(const struct job *j)
{
	if (j->q->native)
		return "native";
	return j->lang && j->lang->image ? j->lang->name : "wasm";
}

static void put_counters(struct json_writer *w, const struct result_usage *u)
{
	json_write_key(w, "usage");
	json_write_begin(w, '{');
	put_number(w, "wall_us", u->wall_us);
	put_number(w, "cpu_us", u->cpu_us);
	put_number(w, "memory_bytes", u->memory_bytes);
	put_number(w, "read_bytes", u->read_bytes);
	put_number(w, "written_bytes", u->written_bytes);
	json_write_end(w, '}');
}

/* The kernel alone knows it, and tells it to its log. */
static int find_syscall(const struct job *j)
{
	uint64_t now = clock_realtime_us() / 1000;
	struct klog_who w = {.pid = j->pid, .uid = -1, .to_ms = now};

	w.from_ms = j->began_us / 1000 - COARSE_MS;
	w.alone = true;
	if (j->q->native) {
		/* Its pid is that of init, which did nothing wrong. */
		w.pid = -1;
		w.alone = j->uid != 0;
		w.uid = j->uid ? j->uid : geteuid();
	}
	return klog_syscall(&w);
}

static bool ended_by_filter(const struct job *j)
{
	return j->result->signal == SIGSYS ||
	       (j->dead.code != CLD_EXITED && j->dead.status == SIGSYS);
}

static int print(const struct job *j, struct buf *out)
{
	const struct redoma_result *r = j->result;
	struct json_writer w = {.buf = out};
	int nr = ended_by_filter(j) ? find_syscall(j) : -1;

	json_write_begin(&w, '{');
	put(&w, "id", r->id);
	put_number(&w, "time_us", clock_realtime_us());
	put(&w, "status", redoma_status_name(r->status));
	put(&w, "profile", profile_word(j));
	json_write_key(&w, "syscall");
	if (nr >= 0)
		json_write_u64(&w, (uint64_t)nr);
	else
		json_write_null(&w);
	put_number(&w, "worker_end", (uint64_t)(uint32_t)j->dead.code);
	put_number(&w, "worker_status", (uint64_t)(uint32_t)j->dead.status);
	if (j->q->native) {
		put_number(&w, "program_signal", r->signal);
		put(&w, "root_sha256", j->root_digest);
	}
	if (j->q->source_len)
		put_digest(&w, "module_sha256", j->q->source,
			   j->q->source_len);
	put_plan(&w, j->granted);
	put_counters(&w, &r->usage);
	json_write_end(&w, '}');
	return json_write_done(&w) || buf_add(out, "\n", 1);
}

/* Every directory of path, 0700 where it has to be made. */
static int make_dirs(const char *path)
{
	char part[PATH_ROOM];
	size_t n = strlen(path);

	if (n >= sizeof part)
		return -1;
	memcpy(part, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (part[i] != '/' && part[i])
			continue;
		part[i] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return -1;
		part[i] = path[i];
	}
	return 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool is_ours(const char *name)
{
	size_t n = strlen(name);

	return n > strlen(SUFFIX) && !strncmp(name, "r_", 2) &&
	       !strcmp(name + n - strlen(SUFFIX), SUFFIX);
}

/* The ids begin with the time: the least is the oldest. */
static void make_room(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_dir) DIR *d = copy < 0 ? NULL : fdopendir(copy);
	char oldest[64] = "";
	struct dirent *e;
	size_t n = 0;

	if (!d && copy >= 0)
		close(copy);
	while (d && (e = readdir(d))) {
		if (!is_ours(e->d_name) || strlen(e->d_name) >= sizeof oldest)
			continue;
		n++;
		if (!*oldest || strcmp(e->d_name, oldest) < 0)
			strcpy(oldest, e->d_name);
	}
	if (n >= INCIDENTS_MAX)
		unlinkat(dir, oldest, 0);
}

static int keep(const struct job *j)
{
	CLEANUP(buf_done) struct buf text = {0};
	CLEANUP_FD int dir = -1;
	CLEANUP_FD int fd = -1;
	char name[sizeof j->result->id + sizeof SUFFIX];

	if (!j->h->incident_dir[0] || make_dirs(j->h->incident_dir) ||
	    print(j, &text))
		return -1;
	dir = fd_lift(open(j->h->incident_dir,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	if (dir < 0)
		return -1;
	make_room(dir);
	snprintf(name, sizeof name, "%s" SUFFIX, j->result->id);
	fd = fd_lift(openat(dir, name, O_WRONLY | O_CREAT | O_EXCL |
					       O_NOFOLLOW | O_CLOEXEC, 0600));
	return fd < 0 ? -1 : fd_write_all(fd, text.data, text.len);
}

void incident_keep(const struct job *j)
{
	if (keep(j))
		j->h->stats.incidents_lost++;
	else
		j->h->stats.incidents++;
}

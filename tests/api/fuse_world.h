/* fuse_world.h - a small file system that answers, until it is told not to:
 * /dev/fuse without a library, in a thread of the test.
 *
 * A root with file "f", directory "d" and file "d/g"; files can be made,
 * written, renamed and removed.  From request number `nth` of kind `op` on
 * nothing is answered: either requests are still read, and who waits cannot
 * even be killed, or they are not (`deaf`).  fuse_abort, or the end of the
 * process, lets all who wait go.
 *
 * Source: linux/fuse.h, fuse(4). */
#ifndef FUSE_WORLD_H
#define FUSE_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FUSE_NODES 64u
#define FUSE_TEXT 4096u
#define FUSE_ROOM (FUSE_TEXT + 65536u)

struct fuse_node {
	bool used, named, dir;
	uint64_t parent;
	char name[64];
	char data[FUSE_TEXT];
	size_t len;
};

struct fuse_world {
	int fd;
	char place[256];
	pthread_t thread;
	_Atomic uint32_t op; /* 0: everything is answered */
	_Atomic uint32_t nth;
	bool deaf;
	_Atomic bool hung; /* it happened */
	_Atomic bool over;
	struct fuse_node nodes[FUSE_NODES + 1]; /* by number; 1: the root */
	char room[FUSE_ROOM];
};

static void fuse_tell(struct fuse_world *w, const struct fuse_in_header *in,
		      int error, const void *p, size_t n)
{
	struct fuse_out_header out = {
		.len = (uint32_t)(sizeof out + (error ? 0 : n)),
		.error = -error,
		.unique = in->unique};
	struct iovec v[2] = {{&out, sizeof out}, {(void *)p, n}};

	/* Who asked may be gone: ENOENT. */
	if (writev(w->fd, v, error || !n ? 1 : 2) < 0)
		return;
}

static struct fuse_attr fuse_attr_of(struct fuse_world *w, uint64_t ino)
{
	struct fuse_node *n = &w->nodes[ino];

	return (struct fuse_attr){
		.ino = ino,
		.size = n->len,
		.mode = n->dir ? S_IFDIR | 0755 : S_IFREG | 0644,
		.nlink = n->named ? 1 : 0,
		.uid = geteuid(),
		.gid = getegid(),
		.blksize = 4096};
}

static uint64_t fuse_find(struct fuse_world *w, uint64_t parent,
			  const char *name)
{
	for (uint64_t i = 2; i <= FUSE_NODES; i++)
		if (w->nodes[i].named && w->nodes[i].parent == parent &&
		    !strcmp(w->nodes[i].name, name))
			return i;
	return 0;
}

static uint64_t fuse_make(struct fuse_world *w, uint64_t parent,
			  const char *name, const char *text)
{
	for (uint64_t i = 2; i <= FUSE_NODES; i++) {
		struct fuse_node *n = &w->nodes[i];

		if (n->used)
			continue;
		*n = (struct fuse_node){.used = true,
					.named = true,
					.dir = !text,
					.parent = parent};
		snprintf(n->name, sizeof n->name, "%s", name);
		if (text) {
			n->len = strlen(text);
			memcpy(n->data, text, n->len);
		}
		return i;
	}
	return 0;
}

static struct fuse_entry_out fuse_entry(struct fuse_world *w, uint64_t ino)
{
	/* Nothing is kept: every look is a request. */
	return (struct fuse_entry_out){.nodeid = ino,
				       .generation = 1,
				       .attr = fuse_attr_of(w, ino)};
}

static void fuse_tell_entry(struct fuse_world *w,
			    const struct fuse_in_header *in, uint64_t ino)
{
	struct fuse_entry_out e;

	if (!ino) {
		fuse_tell(w, in, ENOENT, NULL, 0);
		return;
	}
	e = fuse_entry(w, ino);
	fuse_tell(w, in, 0, &e, sizeof e);
}

static void fuse_init(struct fuse_world *w, const struct fuse_in_header *in,
		      const struct fuse_init_in *q)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .max_readahead = q->max_readahead,
				    /* Who waits in a directory keeps
				     * no other out of it. */
				    .flags = q->flags &
					     FUSE_PARALLEL_DIROPS,
				    .max_write = 65536,
				    .max_background = 8,
				    .congestion_threshold = 6,
				    .time_gran = 1};

	fuse_tell(w, in, 0, &out, sizeof out);
}

static void fuse_read(struct fuse_world *w, const struct fuse_in_header *in,
		      const struct fuse_read_in *q)
{
	struct fuse_node *n = &w->nodes[in->nodeid];
	size_t left = q->offset < n->len ? n->len - (size_t)q->offset : 0;

	fuse_tell(w, in, 0, n->data + q->offset,
		  left < q->size ? left : q->size);
}

static void fuse_write(struct fuse_world *w, const struct fuse_in_header *in,
		       const struct fuse_write_in *q)
{
	struct fuse_node *n = &w->nodes[in->nodeid];
	struct fuse_write_out out = {.size = q->size};

	if (q->offset > FUSE_TEXT || q->size > FUSE_TEXT - q->offset) {
		fuse_tell(w, in, ENOSPC, NULL, 0);
		return;
	}
	memcpy(n->data + q->offset, q + 1, q->size);
	if (q->offset + q->size > n->len)
		n->len = (size_t)(q->offset + q->size);
	fuse_tell(w, in, 0, &out, sizeof out);
}

static void fuse_readdir(struct fuse_world *w, const struct fuse_in_header *in,
			 const struct fuse_read_in *q)
{
	char out[FUSE_TEXT] = {0};
	size_t len = 0;

	for (uint64_t i = q->offset < 2 ? 2 : q->offset + 1; i <= FUSE_NODES;
	     i++) {
		struct fuse_node *n = &w->nodes[i];
		struct fuse_dirent d = {.ino = i,
					.off = i,
					.namelen = (uint32_t)strlen(n->name),
					.type = n->dir ? DT_DIR : DT_REG};

		if (!n->named || n->parent != in->nodeid)
			continue;
		if (len + FUSE_DIRENT_SIZE(&d) > sizeof out)
			break;
		memcpy(out + len, &d, FUSE_NAME_OFFSET);
		memcpy(out + len + FUSE_NAME_OFFSET, n->name, d.namelen);
		len += FUSE_DIRENT_SIZE(&d);
	}
	fuse_tell(w, in, 0, out, len);
}

static void fuse_create(struct fuse_world *w, const struct fuse_in_header *in,
			const struct fuse_create_in *q)
{
	uint64_t ino = fuse_make(w, in->nodeid, (const char *)(q + 1), "");
	struct {
		struct fuse_entry_out entry;
		struct fuse_open_out open;
	} out = {0};

	if (!ino) {
		fuse_tell(w, in, ENOSPC, NULL, 0);
		return;
	}
	out.entry = fuse_entry(w, ino);
	fuse_tell(w, in, 0, &out, sizeof out);
}

static void fuse_rename(struct fuse_world *w, const struct fuse_in_header *in,
			uint64_t to_dir, const char *names)
{
	const char *to = names + strlen(names) + 1;
	uint64_t from = fuse_find(w, in->nodeid, names);
	uint64_t old = fuse_find(w, to_dir, to);

	if (from && old)
		w->nodes[old].named = false;
	if (from) {
		struct fuse_node *n = &w->nodes[from];

		n->parent = to_dir;
		snprintf(n->name, sizeof n->name, "%s", to);
	}
	fuse_tell(w, in, from ? 0 : ENOENT, NULL, 0);
}

static void fuse_unlink(struct fuse_world *w, const struct fuse_in_header *in,
			const char *name)
{
	uint64_t ino = fuse_find(w, in->nodeid, name);

	if (ino)
		w->nodes[ino].named = false;
	fuse_tell(w, in, ino ? 0 : ENOENT, NULL, 0);
}

static void fuse_setattr(struct fuse_world *w, const struct fuse_in_header *in,
			 const struct fuse_setattr_in *q)
{
	struct fuse_attr_out out = {0};

	if (q->valid & FATTR_SIZE && q->size <= FUSE_TEXT)
		w->nodes[in->nodeid].len = (size_t)q->size;
	out.attr = fuse_attr_of(w, in->nodeid);
	fuse_tell(w, in, 0, &out, sizeof out);
}

static void fuse_answer(struct fuse_world *w, const struct fuse_in_header *in)
{
	const void *q = in + 1;
	const struct fuse_rename2_in *to = q;
	struct fuse_attr_out attr = {0};
	struct fuse_open_out open = {.open_flags = FOPEN_DIRECT_IO};

	switch (in->opcode) {
	case FUSE_INIT:
		fuse_init(w, in, q);
		return;
	case FUSE_LOOKUP:
		fuse_tell_entry(w, in, fuse_find(w, in->nodeid, q));
		return;
	case FUSE_GETATTR:
		attr.attr = fuse_attr_of(w, in->nodeid);
		fuse_tell(w, in, 0, &attr, sizeof attr);
		return;
	case FUSE_SETATTR:
		fuse_setattr(w, in, q);
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		fuse_tell(w, in, 0, &open, sizeof open);
		return;
	case FUSE_READ:
		fuse_read(w, in, q);
		return;
	case FUSE_WRITE:
		fuse_write(w, in, q);
		return;
	case FUSE_READDIR:
		fuse_readdir(w, in, q);
		return;
	case FUSE_CREATE:
		fuse_create(w, in, q);
		return;
	case FUSE_RENAME2:
		fuse_rename(w, in, to->newdir, (const char *)(to + 1));
		return;
	case FUSE_RENAME:
		fuse_rename(w, in, to->newdir,
			    (const char *)q + sizeof(struct fuse_rename_in));
		return;
	case FUSE_UNLINK:
		fuse_unlink(w, in, q);
		return;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
		fuse_tell(w, in, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		fuse_tell(w, in, ENOSYS, NULL, 0);
	}
}

/* True: from now on it says nothing. */
static bool fuse_is_hung(struct fuse_world *w, uint32_t op)
{
	if (atomic_load(&w->hung))
		return true;
	if (op != atomic_load(&w->op) || atomic_fetch_sub(&w->nth, 1) != 1)
		return false;
	atomic_store(&w->hung, true);
	return true;
}

static void *fuse_serve(void *arg)
{
	struct fuse_world *w = arg;

	while (!atomic_load(&w->over)) {
		struct fuse_in_header *in = (void *)w->room;
		ssize_t n;

		if (w->deaf && atomic_load(&w->hung)) {
			usleep(10000);
			continue;
		}
		n = read(w->fd, w->room, sizeof w->room - 1);
		if (n < 0 && errno == EAGAIN)
			usleep(200);
		if (n < (ssize_t)sizeof *in) {
			if (n < 0 && errno == ENODEV)
				break;
			continue;
		}
		w->room[n] = '\0';
		if (!fuse_is_hung(w, in->opcode))
			fuse_answer(w, in);
	}
	return NULL;
}

/* NULL, and errno: it cannot be had here. */
static struct fuse_world *fuse_start(const char *place)
{
	struct fuse_world *w = calloc(1, sizeof *w);
	char options[120];

	if (!w)
		return NULL;
	snprintf(w->place, sizeof w->place, "%s", place);
	w->nodes[1] = (struct fuse_node){.used = true,
					 .named = true,
					 .dir = true};
	fuse_make(w, 1, "f", "hello");
	fuse_make(w, fuse_make(w, 1, "d", NULL), "g", "deep");
	w->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (w->fd < 0) {
		free(w);
		return NULL;
	}
	snprintf(options, sizeof options,
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other",
		 w->fd, geteuid(), getegid());
	if (mount("redoma-test", place, "fuse", MS_NOSUID | MS_NODEV,
		  options) ||
	    pthread_create(&w->thread, NULL, fuse_serve, w)) {
		int sys = errno;

		close(w->fd);
		free(w);
		errno = sys;
		return NULL;
	}
	return w;
}

/* The server dies: every wait for it ends with ENOTCONN. */
static void fuse_abort(struct fuse_world *w)
{
	atomic_store(&w->over, true);
	pthread_join(w->thread, NULL);
	close(w->fd);
	w->fd = -1;
}

static void fuse_end(struct fuse_world *w)
{
	umount2(w->place, MNT_DETACH);
	free(w);
}

/* A mount namespace of our own; as an ordinary user also a user namespace, in
 * which it is user 0.  Before the first thread.  0, or -1 with errno. */
static int fuse_enter(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];
	int fd;

	if (unshare(uid ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS))
		return -1;
	if (uid) {
		fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
		if (fd >= 0) {
			dprintf(fd, "deny");
			close(fd);
		}
		snprintf(map, sizeof map, "0 %u 1", uid);
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, strlen(map)) < 0)
			return -1;
		close(fd);
		snprintf(map, sizeof map, "0 %u 1", gid);
		fd = open("/proc/self/gid_map", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, map, strlen(map)) < 0)
			return -1;
		close(fd);
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

#endif

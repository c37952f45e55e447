/* wire/call.h - what a guest may ask of the core while it runs: the bodies of
 * FRAME_CALL and FRAME_ANSWER, both ends.
 *
 * Numbers are little-endian.  The decoder of calls reads hostile bytes: a
 * body of the wrong length, an unknown operation or flag, a field that the
 * operation does not use and that is not zero, or a NUL in a path is refused
 * as a broken protocol, not answered. */
#ifndef WIRE_CALL_H
#define WIRE_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#define CALL_PATH_MAX 4096u
#define CALL_NAME_MAX 255u /* one component: NAME_MAX */
/* The data of one answer: fits a frame beside its numbers. */
#define CALL_DATA_MAX (FRAME_BODY_MAX - 256u)

enum call_op {
	/* Read grants: a descriptor or, for counted ones, a handle.  A
	 * directory gives neither, only its stat.  Write directories: with
	 * CALL_WRITE and CALL_CREATE a new stage, always with a handle; the
	 * path is where it would be published. */
	CALL_OPEN = 1,
	CALL_STAT,
	/* Entries as {u64 ino, u8 type, u16 length, name}, never "." and "..",
	 * from position `offset` (0, or `next` of the answer before). */
	CALL_LIST,
	CALL_READLINK,
	CALL_PREAD, /* handle, offset, count: at most CALL_DATA_MAX at once */
	/* The handle is forgotten; a stage and what it holds is dropped, so a
	 * file that is to be published is not closed. */
	CALL_CLOSE,
	CALL_OP_MAX
};

enum call_flag {
	CALL_WRITE = 1,
	CALL_CREATE = 2,
	CALL_EXCLUSIVE = 4,
	CALL_TRUNCATE = 8,
	CALL_DIRECTORY = 16,
	CALL_NOFOLLOW = 32, /* open, stat: the last component may be a link */
	CALL_FLAGS = 63
};

/* The file types of WASI preview 1. */
enum call_type {
	CALL_TYPE_UNKNOWN,
	CALL_TYPE_BLOCK,
	CALL_TYPE_CHARACTER,
	CALL_TYPE_DIRECTORY,
	CALL_TYPE_REGULAR,
	CALL_TYPE_DATAGRAM,
	CALL_TYPE_STREAM,
	CALL_TYPE_LINK,
	CALL_TYPE_MAX
};

struct call {
	enum call_op op;
	unsigned flags;
	uint32_t grant;	  /* open, stat, list, readlink */
	uint32_t count;	  /* pread */
	uint64_t handle;  /* pread, close */
	uint64_t offset;  /* pread, list */
	struct str path;  /* relative to the grant, "" itself; borrowed */
};

struct call_stat {
	enum call_type type;
	uint64_t dev, ino, nlink, size;
	int64_t atim_ns, mtim_ns, ctim_ns; /* clamped to int64 */
};

struct answer {
	int32_t error;	 /* 0 or a positive errno; then all else is zero */
	bool has_fd;	 /* one descriptor comes with the frame */
	uint64_t handle; /* open; 0: the core keeps nothing, close nothing */
	uint64_t next;	 /* list; 0: the end */
	struct call_stat st; /* open, stat */
	struct str data;     /* list, readlink, pread; borrowed */
};

/* Append one body. */
MUST_CHECK int call_encode(const struct call *c, struct buf *out,
			   struct redoma_error *err);
MUST_CHECK int answer_encode(const struct answer *a, struct buf *out,
			     struct redoma_error *err);
/* Read one body; REDOMA_E_INVALID if it is not exactly one.  Strings borrow
 * from p. */
MUST_CHECK int call_decode(const void *p, size_t len, struct call *ret,
			   struct redoma_error *err);
MUST_CHECK int answer_decode(const void *p, size_t len, struct answer *ret,
			     struct redoma_error *err);

#endif

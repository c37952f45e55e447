/* wasi/abi.h - numbers and layouts of WASI preview 1.
 *
 * Source: wasi_snapshot_preview1.witx.  Everything in guest memory is
 * little-endian and read or written through wasi/memory.h. */
#ifndef WASI_ABI_H
#define WASI_ABI_H

#include <stdint.h>

enum wasi_errno {
	W_SUCCESS = 0,
	W_2BIG = 1,
	W_ACCES = 2,
	W_AGAIN = 6,
	W_BADF = 8,
	W_BUSY = 10,
	W_EXIST = 20,
	W_FAULT = 21,
	W_FBIG = 22,
	W_ILSEQ = 25,
	W_INTR = 27,
	W_INVAL = 28,
	W_IO = 29,
	W_ISDIR = 31,
	W_LOOP = 32,
	W_MFILE = 33,
	W_NAMETOOLONG = 37,
	W_NOENT = 44,
	W_NOMEM = 48,
	W_NOSPC = 51,
	W_NOSYS = 52,
	W_NOTDIR = 54,
	W_NOTEMPTY = 55,
	W_NOTSUP = 58,
	W_OVERFLOW = 61,
	W_PERM = 63,
	W_ROFS = 69,
	W_SPIPE = 70,
	W_STALE = 72,
	W_XDEV = 75,
	W_NOTCAPABLE = 76,
};

enum wasi_right {
	RIGHT_FD_DATASYNC = 1 << 0,
	RIGHT_FD_READ = 1 << 1,
	RIGHT_FD_SEEK = 1 << 2,
	RIGHT_FD_SET_FLAGS = 1 << 3,
	RIGHT_FD_SYNC = 1 << 4,
	RIGHT_FD_TELL = 1 << 5,
	RIGHT_FD_WRITE = 1 << 6,
	RIGHT_FD_ADVISE = 1 << 7,
	RIGHT_FD_ALLOCATE = 1 << 8,
	RIGHT_PATH_CREATE_DIRECTORY = 1 << 9,
	RIGHT_PATH_CREATE_FILE = 1 << 10,
	RIGHT_PATH_LINK_SOURCE = 1 << 11,
	RIGHT_PATH_LINK_TARGET = 1 << 12,
	RIGHT_PATH_OPEN = 1 << 13,
	RIGHT_FD_READDIR = 1 << 14,
	RIGHT_PATH_READLINK = 1 << 15,
	RIGHT_PATH_RENAME_SOURCE = 1 << 16,
	RIGHT_PATH_RENAME_TARGET = 1 << 17,
	RIGHT_PATH_FILESTAT_GET = 1 << 18,
	RIGHT_PATH_SET_SIZE = 1 << 19,
	RIGHT_PATH_SET_TIMES = 1 << 20,
	RIGHT_FD_FILESTAT_GET = 1 << 21,
	RIGHT_FD_SET_SIZE = 1 << 22,
	RIGHT_FD_SET_TIMES = 1 << 23,
	RIGHT_PATH_SYMLINK = 1 << 24,
	RIGHT_PATH_REMOVE_DIRECTORY = 1 << 25,
	RIGHT_PATH_UNLINK_FILE = 1 << 26,
	RIGHT_POLL_FD_READWRITE = 1 << 27,
};

/* What applies to each kind of descriptor. */
#define RIGHTS_OUT                                             \
	(RIGHT_FD_WRITE | RIGHT_FD_SET_FLAGS | RIGHT_FD_SYNC | \
	 RIGHT_FD_DATASYNC | RIGHT_FD_FILESTAT_GET |           \
	 RIGHT_POLL_FD_READWRITE)
#define RIGHTS_IN                                      \
	(RIGHT_FD_READ | RIGHT_FD_SET_FLAGS |          \
	 RIGHT_FD_FILESTAT_GET | RIGHT_POLL_FD_READWRITE)
#define RIGHTS_READ                                                \
	(RIGHT_FD_READ | RIGHT_FD_SEEK | RIGHT_FD_TELL |           \
	 RIGHT_FD_SET_FLAGS | RIGHT_FD_ADVISE | RIGHT_FD_SYNC |    \
	 RIGHT_FD_DATASYNC | RIGHT_FD_FILESTAT_GET |               \
	 RIGHT_POLL_FD_READWRITE)
#define RIGHTS_WRITE                                                  \
	(RIGHTS_READ | RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE |           \
	 RIGHT_FD_SET_SIZE | RIGHT_FD_SET_TIMES)
#define RIGHTS_DIR                                                       \
	(RIGHT_FD_SET_FLAGS | RIGHT_FD_SYNC | RIGHT_FD_DATASYNC |        \
	 RIGHT_PATH_CREATE_DIRECTORY | RIGHT_PATH_CREATE_FILE |          \
	 RIGHT_PATH_LINK_SOURCE | RIGHT_PATH_LINK_TARGET |               \
	 RIGHT_PATH_OPEN | RIGHT_FD_READDIR | RIGHT_PATH_READLINK |      \
	 RIGHT_PATH_RENAME_SOURCE | RIGHT_PATH_RENAME_TARGET |           \
	 RIGHT_PATH_FILESTAT_GET | RIGHT_PATH_SET_SIZE |                 \
	 RIGHT_PATH_SET_TIMES | RIGHT_FD_FILESTAT_GET |                  \
	 RIGHT_FD_SET_TIMES | RIGHT_PATH_SYMLINK |                       \
	 RIGHT_PATH_REMOVE_DIRECTORY | RIGHT_PATH_UNLINK_FILE |          \
	 RIGHT_POLL_FD_READWRITE)
#define RIGHTS_ALL (RIGHTS_WRITE | RIGHTS_DIR)
/* Asking for one of these when opening means: to write. */
#define RIGHTS_CHANGE (RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE | RIGHT_FD_SET_SIZE)

enum wasi_filetype {
	FILETYPE_UNKNOWN = 0,
	FILETYPE_DIRECTORY = 3,
	FILETYPE_REGULAR = 4,
	FILETYPE_SYMLINK = 7,
};

enum wasi_fdflag {
	FDFLAG_APPEND = 1,
	FDFLAGS_ALL = 31,
};

enum wasi_oflag {
	OFLAG_CREAT = 1,
	OFLAG_DIRECTORY = 2,
	OFLAG_EXCL = 4,
	OFLAG_TRUNC = 8,
	OFLAGS_ALL = 15,
};

enum wasi_lookup {
	LOOKUP_FOLLOW = 1,
};

enum wasi_fstflag {
	FST_ATIM = 1,
	FST_ATIM_NOW = 2,
	FST_MTIM = 4,
	FST_MTIM_NOW = 8,
	FST_ALL = 15,
};

enum wasi_clockid {
	CLOCK_ID_REALTIME = 0,
	CLOCK_ID_MONOTONIC = 1,
};

enum wasi_eventtype {
	EVENT_CLOCK = 0,
	EVENT_FD_READ = 1,
	EVENT_FD_WRITE = 2,
};

enum wasi_whence {
	WHENCE_SET = 0,
	WHENCE_CUR = 1,
	WHENCE_END = 2,
};

#define EVENT_HANGUP 1	     /* eventrwflags */
#define SUBCLOCK_ABSTIME 1   /* subclockflags */
#define ADVICE_MAX 5	     /* noreuse */

/* Sizes in guest memory. */
#define SIZE_IOVEC 8
#define SIZE_FDSTAT 24
#define SIZE_FILESTAT 64
#define SIZE_PRESTAT 8
#define SIZE_DIRENT 24
#define SIZE_SUBSCRIPTION 48
#define SIZE_EVENT 32

#endif

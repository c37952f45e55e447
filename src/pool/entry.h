/* pool/entry.h - one file of the cache of compiled modules.
 *
 * File: MAC (32 bytes), magic, version, name (32 bytes), length (8 bytes,
 * little-endian), artefact.  The MAC covers all that follows it. */
#ifndef POOL_ENTRY_H
#define POOL_ENTRY_H

#include <stdint.h>
#include <sys/types.h>

#define ENTRY_NAME 32 /* bytes; the file's name is their hexadecimal form */

struct entry_dir {
	int fd; /* the directory, or -1 */
	const uint8_t *key;
	uint64_t max_bytes;
};

/* The artefact as a sealed memfd, or -1: there is none, it was not what it
 * should be and is gone now, or it could not be read just now. */
int entry_read(const struct entry_dir *d, const uint8_t name[ENTRY_NAME]);
/* Best effort: without room nothing is kept and nothing is left behind. */
void entry_write(const struct entry_dir *d, const uint8_t name[ENTRY_NAME],
		 int artefact_fd);
/* Takes the lock of who makes this entry; released by entry_unlock.  -1: no
 * lock could be had, with EWOULDBLOCK: another process has it. */
int entry_lock(const struct entry_dir *d, const uint8_t name[ENTRY_NAME]);
void entry_unlock(const struct entry_dir *d, const uint8_t name[ENTRY_NAME],
		  int lock_fd);
/* Removes what was not used for longest until max_bytes are left, and leavings
 * of processes that died. */
void entry_evict(const struct entry_dir *d);

#endif

/* pool/key.h - the secret that the cache's entries are signed with. */
#ifndef POOL_KEY_H
#define POOL_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define KEY_BYTES 32

/* Reads the key file, or makes it with fresh random bytes (mode 0600, complete
 * or not at all; of two makers one wins).  0, or -1 with a sentence in `why`
 * and errno (0: it is not ours, others can read it, or it is damaged). */
int key_read(const char *path, uint8_t key[KEY_BYTES], char *why, size_t size);
/* Makes a directory and what is missing above it, 0700.  -1 with errno. */
int key_make_dirs(const char *path);

#endif

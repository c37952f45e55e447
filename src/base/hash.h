/* base/hash.h - digests, a keyed code for our own files, and random bytes. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

#define HASH_BYTES 32
#define HASH_HEX_MAX (2 * HASH_BYTES + 1)

/* SHA-256 (FIPS 180-4), at once or piece by piece. */
struct hash {
	_Alignas(16) unsigned char state_[112]; /* private */
};
void hash_init(struct hash *h);
void hash_add(struct hash *h, const void *p, size_t n);
void hash_end(struct hash *h, uint8_t ret[HASH_BYTES]);
void hash_sha256(const void *p, size_t n, uint8_t ret[HASH_BYTES]);

/* Keyed BLAKE2b-256 (RFC 7693) over n bytes. */
void hash_mac(const uint8_t key[HASH_BYTES], const void *p, size_t n,
	      uint8_t ret[HASH_BYTES]);
/* SipHash-2-4: for tables in memory, whose key nobody else knows. */
#define HASH_SHORT_KEY 16
uint64_t hash_short(const uint8_t key[HASH_SHORT_KEY], const void *p, size_t n);
/* In time that depends on n only. */
bool hash_equal(const void *a, const void *b, size_t n);

/* Lower-case digits and a NUL: 2 * n + 1 chars at dst, which is returned. */
char *hash_hex(const void *p, size_t n, char *dst);
/* Exactly 2 * n hexadecimal digits of either case; false, and ret untouched,
 * otherwise.  n is at most HASH_BYTES. */
bool hash_unhex(const char *text, size_t len, uint8_t *ret, size_t n);

/* From the kernel's generator; waits until that is seeded, then never fails
 * but by a seccomp filter: -1 with errno. */
MUST_CHECK int hash_random(void *p, size_t n);
/* Overwrites a secret; the compiler does not take it out. */
void hash_wipe(void *p, size_t n);

#endif

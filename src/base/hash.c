#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <sodium.h>

_Static_assert(sizeof(crypto_hash_sha256_state) <= sizeof(struct hash),
	       "struct hash holds the library's state");
_Static_assert(_Alignof(crypto_hash_sha256_state) <= _Alignof(struct hash),
	       "struct hash is aligned for it");

static crypto_hash_sha256_state *state(struct hash *h)
{
	return (crypto_hash_sha256_state *)(void *)h->state_;
}

void hash_init(struct hash *h)
{
	crypto_hash_sha256_init(state(h));
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	if (n)
		crypto_hash_sha256_update(state(h), p, n);
}

void hash_end(struct hash *h, uint8_t ret[HASH_BYTES])
{
	crypto_hash_sha256_final(state(h), ret);
}

void hash_sha256(const void *p, size_t n, uint8_t ret[HASH_BYTES])
{
	struct hash h;

	hash_init(&h);
	hash_add(&h, p, n);
	hash_end(&h, ret);
}

void hash_mac(const uint8_t key[HASH_BYTES], const void *p, size_t n,
	      uint8_t ret[HASH_BYTES])
{
	crypto_generichash(ret, HASH_BYTES, p, n, key, HASH_BYTES);
}

uint64_t hash_short(const uint8_t key[HASH_SHORT_KEY], const void *p, size_t n)
{
	uint8_t bytes[crypto_shorthash_BYTES];
	uint64_t ret;

	_Static_assert(crypto_shorthash_KEYBYTES == HASH_SHORT_KEY &&
			       sizeof bytes == sizeof ret,
		       "SipHash has 128 bits in, 64 out");
	crypto_shorthash(bytes, p, n, key);
	memcpy(&ret, bytes, sizeof ret);
	return ret;
}

bool hash_equal(const void *a, const void *b, size_t n)
{
	return !sodium_memcmp(a, b, n);
}

char *hash_hex(const void *p, size_t n, char *dst)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *u = p;

	for (size_t i = 0; i < n; i++) {
		dst[2 * i] = digits[u[i] >> 4];
		dst[2 * i + 1] = digits[u[i] & 15];
	}
	dst[2 * n] = '\0';
	return dst;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hash_unhex(const char *text, size_t len, uint8_t *ret, size_t n)
{
	uint8_t bytes[HASH_BYTES];

	if (n > sizeof bytes || len != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = nibble(text[2 * i]), low = nibble(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(ret, bytes, n);
	return true;
}

int hash_random(void *p, size_t n)
{
	unsigned char *at = p;

	while (n) {
		ssize_t got = getrandom(at, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

void hash_wipe(void *p, size_t n)
{
	explicit_bzero(p, n);
}

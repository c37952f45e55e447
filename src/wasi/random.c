#include "wasi/calls.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define PIECE_BYTES ((size_t)64 << 10)

/* Word `i` of the stream of a seed (SplitMix64, Steele et al. 2014). */
static uint64_t seeded_word(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* The stream is one of bytes: how it is cut into calls does not matter. */
static void fill_seeded(struct wasi *w, uint8_t *p, size_t n)
{
	while (n) {
		uint64_t word = seeded_word(w->plan->random_seed,
					    w->random_at / 8);
		size_t from = w->random_at % 8;
		size_t take = 8 - from < n ? 8 - from : n;

		memcpy(p, (uint8_t *)&word + from, take);
		w->random_at += take;
		p += take;
		n -= take;
	}
}

static int fill_real(uint8_t *p, size_t n)
{
	while (n) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

uint32_t call_random_get(struct wasi *w, const struct guest *g,
			 const wasmtime_val_raw_t *a)
{
	uint32_t at = arg_u32(a, 0), len = arg_u32(a, 1);

	if (!guest_has(g, at, len))
		return W_FAULT;
	if (w->plan->random == SOURCE_NONE) {
		denial_add(w, "random", (struct str){0}, false);
		return W_NOTCAPABLE;
	}
	w->report.used_random |= w->plan->random == SOURCE_REAL;
	while (len) {
		uint32_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
		int e = 0;

		if (wasi_stopped(w))
			return W_INTR;
		if (w->plan->random == SOURCE_FIXED)
			fill_seeded(w, g->base + at, n);
		else
			e = fill_real(g->base + at, n);
		if (e)
			return wasi_errno(w, e);
		at += n;
		len -= n;
	}
	return W_SUCCESS;
}

#include "wire/native.h"

#include <stdlib.h>
#include <string.h>
#include "wire/pack.h"

#define WHERE "wire"
/* Kinds there are: FILE, DIR, LINK, TEXT, EMPTY. */
#define KINDS 5u
/* Of a path, its NUL included. */
#define PATH_BYTES (NATIVE_PATH_ROOM - 1u)
/* `host` may be the text of a whole file. */
#define HOST_BYTES (1u << 20)

/* A text goes with its NUL, so that the reader can borrow it. */
static void pack_text(struct packer *w, const char *s)
{
	pack_str(w, (struct str){s, strlen(s) + 1});
}

static const char *unpack_text(struct unpacker *r, size_t cap)
{
	struct str s = unpack_str(r, cap + 1);

	if (r->bad || !s.len || memchr(s.p, 0, s.len) != s.p + s.len - 1) {
		r->bad = true;
		return NULL;
	}
	return s.p;
}

int native_root_encode(const struct native_item *items, size_t n,
		       struct buf *out, struct redoma_error *err)
{
	struct packer w = {.out = out};
	size_t start = out->len;
	size_t i;

	if (n > NATIVE_ENTRIES_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "a root of %zu entries is over the most, %u: "
			       "name directories instead of files",
			       n, NATIVE_ENTRIES_MAX);
	pack_uint(&w, n, 4);
	for (i = 0; i < n; i++) {
		const struct native_item *it = &items[i];

		if (it->kind >= KINDS || strlen(it->guest) > PATH_BYTES ||
		    strlen(it->host) > HOST_BYTES)
			return err_set(err, REDOMA_E_INVALID, WHERE,
				       "entry %s of a root is over its caps",
				       SHOW(str_of(it->guest)));
		pack_uint(&w, it->kind, 1);
		pack_uint(&w, it->exec != 0, 1);
		pack_text(&w, it->guest);
		pack_text(&w, it->host);
	}
	if (w.bad)
		return err_nomem(err, WHERE);
	if (out->len - start > NATIVE_ROOT_BYTES)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the entries of a root come to %zu bytes, over "
			       "the cap of %u",
			       out->len - start, NATIVE_ROOT_BYTES);
	return 0;
}

static void unpack_item(struct unpacker *r, struct native_item *it)
{
	it->kind = (uint32_t)unpack_uint(r, 1);
	it->exec = (uint32_t)unpack_uint(r, 1);
	it->guest = unpack_text(r, PATH_BYTES);
	it->host = unpack_text(r, HOST_BYTES);
	if (it->kind >= KINDS || it->exec > 1 || r->bad || it->guest[0] != '/')
		r->bad = true;
}

int native_root_decode(const void *p, size_t len,
		       struct native_item **ret_items, size_t *ret_n,
		       struct redoma_error *err)
{
	struct unpacker r = {.p = p, .left = len};
	size_t n = (size_t)unpack_uint(&r, 4), i;
	struct native_item *items = NULL;

	if (len > NATIVE_ROOT_BYTES || n > NATIVE_ENTRIES_MAX)
		r.bad = true;
	if (!r.bad) {
		items = calloc(n + 1, sizeof *items);
		if (!items)
			return err_nomem(err, WHERE);
	}
	for (i = 0; i < n && !r.bad; i++)
		unpack_item(&r, &items[i]);
	if (!unpack_done(&r)) {
		free(items);
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the entries of a root are malformed");
	}
	*ret_items = items;
	*ret_n = n;
	return 0;
}

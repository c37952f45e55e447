#include "engine/inspect.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/compile.h"

#define WHERE "module"
#define HEADER 8
#define SECTIONS_MAX 100000 /* custom sections may repeat */
#define SECTION_LAST 13	    /* tag */

/* First match wins: more special words come first. */
static const struct {
	const char *word, *feature;
} features[] = {
	{"shared-everything", "shared-everything threads"},
	{"legacy_exceptions", "legacy exceptions"},
	{"legacy exceptions", "legacy exceptions"},
	{"stack switching", "stack switching"},
	{"continuation", "stack switching"},
	{"custom page sizes", "custom page sizes"},
	{"custom descriptors", "custom descriptors"},
	{"wide arithmetic", "wide arithmetic"},
	{"memory control", "memory control"},
	{"relaxed simd", "relaxed SIMD"},
	{"tail call", "tail calls"},
	{"memory64", "64-bit memory (memory64)"},
	{"multi-memory", "several memories (multi-memory)"},
	{"multiple memories", "several memories (multi-memory)"},
	{"threads", "threads"},
	{"shared memor", "threads"},
	{"function references", "function references"},
	{"function-references", "function references"},
	{"exact reference types", "custom descriptors"},
	{"non-nullable", "function references"},
	{"rec group", "garbage-collected types (GC)"},
	{"gc ", "garbage-collected types (GC)"},
	{"array type", "garbage-collected types (GC)"},
	{"array indexed", "garbage-collected types (GC)"},
	{"struct type", "garbage-collected types (GC)"},
	{"heap types", "garbage-collected types (GC)"},
	{"compact import", "compact imports"},
	{"component", "components"},
};

static bool contains(const char *text, const char *word)
{
	for (; *text; text++) {
		size_t i = 0;

		while (word[i] &&
		       tolower((unsigned char)text[i]) == word[i])
			i++;
		if (!word[i])
			return true;
	}
	return false;
}

const char *inspect_feature(const char *message)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (contains(message, features[i].word))
			return features[i].feature;
	return NULL;
}

static int check_header(const unsigned char *p, size_t len,
			struct redoma_error *err)
{
	static const unsigned char magic[4] = {0, 'a', 's', 'm'};

	if (len > COMPILE_INPUT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module has %zu MiB, at most %zu are "
			       "allowed; strip its debug information (wasm-opt "
			       "--strip-debug) or build it smaller",
			       len >> 20, COMPILE_INPUT_MAX >> 20);
	if (len < HEADER || memcmp(p, magic, 4))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       len ? "this is not WebAssembly: it does not "
				     "begin with \\0asm (the text format must "
				     "be translated first: wat2wasm)"
				   : "the module is empty");
	if (p[6] == 1 && p[7] == 0)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "this is a component; this product runs core "
			       "WASI modules: build for wasm32-wasip1, or take "
			       "the core module out (wasm-tools component "
			       "unbundle)");
	if (p[4] != 1 || p[5] || p[6] || p[7])
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "WebAssembly version %u is unknown; version 1 "
			       "is what runs here",
			       p[4] | p[5] << 8 | p[6] << 16 |
				       (unsigned)p[7] << 24);
	return 0;
}

/* An unsigned LEB128 of at most 32 bits (core specification, 5.2.2). */
static bool read_leb(const unsigned char *p, size_t len, size_t *at,
		     uint32_t *ret)
{
	uint32_t v = 0;

	for (unsigned shift = 0; shift < 35; shift += 7) {
		unsigned char b;

		if (*at >= len)
			return false;
		b = p[(*at)++];
		if (shift == 28 && b > 0x0f)
			return false;
		v |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static int bad_section(size_t at, const char *what, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "not a valid module: %s (at offset 0x%zx); the file may "
		       "be cut off or damaged",
		       what, at);
}

int inspect_module(const void *wasm, size_t len, struct redoma_error *err)
{
	const unsigned char *p = wasm;
	size_t at = HEADER, n = 0;
	int rc = check_header(p, len, err);

	while (!rc && at < len) {
		size_t start = at;
		unsigned id = p[at++];
		uint32_t size;

		if (id > SECTION_LAST)
			return bad_section(start, "unknown section", err);
		if (!read_leb(p, len, &at, &size))
			return bad_section(start, "bad section length", err);
		if (size > len - at)
			return bad_section(start, "section past the end", err);
		if (++n > SECTIONS_MAX)
			return bad_section(start, "too many sections", err);
		at += size;
	}
	return rc;
}

#include "engine/cpu.h"

#include <stddef.h>
#include <string.h>

/* The levels of the x86-64 psABI, as far as Cranelift makes use of them. */
#define V2                                                                     \
	"has_cmpxchg16b", "has_sse3", "has_ssse3", "has_sse41", "has_sse42",   \
		"has_popcnt"
#define V3                                                                     \
	"has_avx", "has_avx2", "has_fma", "has_bmi1", "has_bmi2", "has_lzcnt"

static const char *const none[] = {NULL};
static const char *const v2[] = {V2, NULL};
static const char *const v3[] = {V2, V3, NULL};

static const struct cpu rows[] = {
	{"baseline", NULL, none},
	{"x86-64-v2", "x86_64", v2},
	{"x86-64-v3", "x86_64", v3},
};

const struct cpu *cpu_find(const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

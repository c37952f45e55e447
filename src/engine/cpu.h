/* engine/cpu.h - for which CPU code is compiled: levels that many machines
 * have in common.  Without one it is for the machine that compiles. */
#ifndef ENGINE_CPU_H
#define ENGINE_CPU_H

struct cpu {
	const char *name;	  /* "x86-64-v3" */
	const char *machine;	  /* as uname(2) has it; NULL: any */
	const char *const *flags; /* Cranelift's; NULL-terminated */
};

#define CPU_NAMES "native, baseline, x86-64-v2, x86-64-v3"

/* By name; NULL: there is none, or "native", which needs no row. */
const struct cpu *cpu_find(const char *name);

#endif

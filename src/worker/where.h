/* worker/where.h - where a signal found its thread.
 *
 * Source: sigaction(2), the ucontext_t of the C library. */
#ifndef WORKER_WHERE_H
#define WORKER_WHERE_H

#include <stdint.h>
#include <ucontext.h>

static inline uintptr_t where_was(const ucontext_t *u)
{
#if defined(__x86_64__)
	return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)u->uc_mcontext.pc;
#endif
}

#endif

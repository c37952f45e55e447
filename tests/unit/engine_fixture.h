/* Compile, load, link and begin in one step, for tests of the engine. */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <signal.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "engine/compile.h"
#include "engine/engine.h"
#include "engine/exec.h"
#include "engine/module.h"
#include "engine/state.h"
#include "wasm_build.h"

#define MIB ((uint64_t)1 << 20)

struct jar {
	struct engine *e;
	struct exec *x;
	struct exec_outcome out;
	struct redoma_error err;
};

/* cmocka puts its own handlers in place before each test; the engine installs
 * its own once a process.  So main calls jar_main first, and jar_open puts the
 * engine's back. */
static const int jar_signals[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS};
static struct sigaction jar_actions[4];

static inline void jar_main(void)
{
	struct engine *e;

	if (engine_new(PROFILE_IMAGE, &e, NULL))
		abort();
	engine_free(e);
	for (size_t i = 0; i < 4; i++)
		sigaction(jar_signals[i], NULL, &jar_actions[i]);
}

static inline void jar_use_signals(void)
{
	for (size_t i = 0; i < 4; i++)
		sigaction(jar_signals[i], &jar_actions[i], NULL);
}

#define must(j, call) jar_must((j), (call), #call)

static inline void jar_must(const struct jar *j, int rc, const char *what)
{
	if (rc)
		print_error("%s: %s\n", what, j->err.text);
	assert_int_equal(rc, 0);
}

/* Compiles m (and frees it) and loads it; `stop` as for exec_new, `swaps` as
 * for engine_new_with. */
static inline void jar_open_with(struct jar *j, enum profile p, struct wasm *m,
				 const volatile sig_atomic_t *stop,
				 const char *swaps)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};

	memset(j, 0, sizeof(*j));
	jar_use_signals();
	wasm_finish(m, &wasm);
	must(j, compile_module_bytes(p, wasm.data, wasm.len, &artefact,
				     &j->err));
	must(j, engine_new_with(p, swaps, &j->e, &j->err));
	must(j, module_load_bytes(j->e, artefact.data, artefact.len, &j->err));
	must(j, module_link(j->e, NULL, &j->err));
	must(j, exec_new(j->e, stop, &j->x, &j->err));
}

static inline void jar_open(struct jar *j, enum profile p, struct wasm *m,
			    const volatile sig_atomic_t *stop)
{
	jar_open_with(j, p, m, stop, "/proc/swaps");
}

static inline void jar_close(struct jar *j)
{
	exec_free(j->x);
	engine_free(j->e);
}

/* Begins under a memory limit and expects no trap in the start function. */
static inline void jar_begin(struct jar *j, uint64_t memory, uint64_t fuel)
{
	struct exec_limits l = {.memory_bytes = memory, .fuel = fuel};

	must(j, exec_begin(j->x, &l, &j->out, &j->err));
	assert_int_equal(j->out.end, EXEC_DONE);
}

/* Calls an export without arguments; its results as text in `value`. */
static inline void jar_call(struct jar *j, const char *name, struct buf *value)
{
	const char *const none[] = {NULL};

	must(j, exec_invoke(j->x, name, none, &j->out, value, &j->err));
}

#endif

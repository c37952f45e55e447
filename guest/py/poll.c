/* The deadline.
 *
 * The word that the host sets is the interpreter's own eval breaker, which the
 * evaluation loop reads at every jump back and every call anyhow: the 1 of the
 * host is its request to drop the lock of threads, which nobody else makes
 * here.  The loop then calls _Py_HandlePending, and C code that takes long
 * calls PyErr_CheckSignals; the linker sends both here (--wrap).
 *
 * A run is not ended by an exception, which a program could catch: any call
 * of the host after the deadline ends it, and all that it printed has left
 * already. */
#include <wasi/api.h>
#define Py_BUILD_CORE 1
#include "guest.h"
#include "internal/pycore_ceval.h"
#include "internal/pycore_pystate.h"

int __real__Py_HandlePending(PyThreadState *state);
int __wrap__Py_HandlePending(PyThreadState *state);
int __real_PyErr_CheckSignals(void);
int __wrap_PyErr_CheckSignals(void);

static void end_if_late(const PyThreadState *state)
{
	if (!(state->eval_breaker & _PY_GIL_DROP_REQUEST_BIT))
		return;
	/* Does not come back. */
	if (__wasi_sched_yield())
		__builtin_trap();
}

int __wrap__Py_HandlePending(PyThreadState *state)
{
	end_if_late(state);
	return __real__Py_HandlePending(state);
}

int __wrap_PyErr_CheckSignals(void)
{
	end_if_late(_PyThreadState_GET());
	return __real_PyErr_CheckSignals();
}

volatile int32_t *poll_word(void)
{
	return (volatile int32_t *)&_PyThreadState_GET()->eval_breaker;
}

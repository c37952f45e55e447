/* The deadline, as in the image of programs, and the limit of a row.
 *
 * The host ends a row by its number and a bit of the interrupt word, which is
 * the interpreter's eval breaker.  What then is raised is no Exception: no
 * formula and no helper catches it. */
#include <wasi/api.h>
#define Py_BUILD_CORE 1
#include "formula.h"
#include "internal/pycore_ceval.h"
#include "internal/pycore_pystate.h"

int __real__Py_HandlePending(PyThreadState *state);
int __wrap__Py_HandlePending(PyThreadState *state);
int __real_PyErr_CheckSignals(void);
int __wrap_PyErr_CheckSignals(void);
volatile int32_t *poll_word(void);

volatile struct formula_count formula_count = {.bits =
						       _PY_SIGNALS_PENDING_BIT};
PyObject *poll_ending;

bool poll_aside;
static uint64_t aside_us;

bool poll_row_over(void)
{
	if (!formula_count.row || formula_count.stop != formula_count.row)
		return false;
	if (!poll_aside || aside_us >= POLL_ASIDE_US)
		return true;
	aside_us += table.head.row_us;
	formula_count.row++;
	return false;
}

static void look_at_deadline(const PyThreadState *state)
{
	/* The call does not come back. */
	if ((state->eval_breaker & _PY_GIL_DROP_REQUEST_BIT) &&
	    __wasi_sched_yield())
		__builtin_trap();
}

void poll_deadline(void)
{
	look_at_deadline(_PyThreadState_GET());
}

static int look(const PyThreadState *state)
{
	look_at_deadline(state);
	if (!poll_row_over())
		return 0;
	PyErr_SetNone(poll_ending);
	return -1;
}

int __wrap__Py_HandlePending(PyThreadState *state)
{
	return look(state) ? -1 : __real__Py_HandlePending(state);
}

int __wrap_PyErr_CheckSignals(void)
{
	return look(_PyThreadState_GET()) ? -1 : __real_PyErr_CheckSignals();
}

volatile int32_t *poll_word(void)
{
	return (volatile int32_t *)&_PyThreadState_GET()->eval_breaker;
}

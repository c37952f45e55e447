/* Waiting for a lock where there is one thread: nobody will release it.
 *
 * CPython's own stand-ins for threads would try again and again until the
 * run's deadline.  A wait that has an end is slept through; one that has none
 * is an error of the program, as in a loop of asyncio that nothing can wake.
 * Locks of `threading` come here (the linker's --wrap), and whatever waits by
 * one: events, conditions, queues. */
#include <time.h>
#define Py_BUILD_CORE 1
#include "guest.h"
#include "internal/pycore_lock.h"
#include "internal/pycore_parking_lot.h"
#include "internal/pycore_semaphore.h"

#define SECOND 1000000000LL

PyLockStatus __real__PyMutex_LockTimed(PyMutex *m, PyTime_t ns,
				       _PyLockFlags flags);
PyLockStatus __wrap__PyMutex_LockTimed(PyMutex *m, PyTime_t ns,
				       _PyLockFlags flags);

int __wrap__PySemaphore_Wait(_PySemaphore *s, PyTime_t ns, int detach);

static int for_ever(void *none)
{
	PyErr_SetString(PyExc_RuntimeError,
			"this waits for ever: there are no threads in a "
			"sandbox, so nothing is left that could end it");
	return -1;
}

PyLockStatus __wrap__PyMutex_LockTimed(PyMutex *m, PyTime_t ns,
				       _PyLockFlags flags)
{
	PyLockStatus r = __real__PyMutex_LockTimed(m, 0, flags);
	struct timespec t = { ns / SECOND, (long)(ns % SECOND) };

	if (r == PY_LOCK_ACQUIRED || !ns)
		return r;
	if (ns > 0) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		return r;
	}
	if (!(flags & _PY_LOCK_HANDLE_SIGNALS)) /* may not raise */
		return __real__PyMutex_LockTimed(m, ns, flags);
	for_ever(NULL);
	return PY_LOCK_INTR; /* the exception is raised */
}

/* A SimpleQueue waits by one of these. */
int __wrap__PySemaphore_Wait(_PySemaphore *s, PyTime_t ns, int detach)
{
	struct timespec t = { ns / SECOND, (long)(ns % SECOND) };

	if (ns >= 0) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		return Py_PARK_TIMEOUT;
	}
	/* As after a signal: the queue runs what is pending. */
	Py_AddPendingCall(for_ever, NULL);
	return Py_PARK_INTR;
}

/* What a run writes to, made small and put together.
 *
 * After a run the engine copies back the pages that it wrote to, if these are
 * not too scattered (pages beyond 32 ranges are mapped anew, and each costs a
 * fault).  So at the end of the set-up all memory that was freed is taken, for
 * good: what a run allocates then lies side by side behind it.  And no object
 * of the image counts its references any more, so that to use one is not to
 * write to it. */
#include <stdlib.h>
#include <string.h>
#include "guest.h"

#define LARGEST ((size_t)1 << 20)
#define OBJECT_MAX 512 /* larger ones come from malloc */
#define OBJECT_STEP 16

/* Takes every hole of malloc's: a hole lies below what was taken from the end
 * of memory last. */
static void fill_holes(void)
{
	char *end = malloc(LARGEST);
	size_t n = LARGEST;

	while (n >= 8) {
		char *p = malloc(n);

		if (!p)
			__builtin_trap();
		if (p > end) {
			/* No hole is as large as this. */
			free(p);
			n = n / 2;
			continue;
		}
		memset(p, 0, n);
	}
	free(end);
}

/* The same for each size of small objects. */
static void fill_pools(void)
{
	char *end = malloc(1);

	for (size_t n = OBJECT_MAX; n; n -= OBJECT_STEP) {
		char *p;

		do {
			p = PyObject_Malloc(n);
			if (!p)
				__builtin_trap();
			memset(p, 0, n);
		} while (p < end);
	}
}

struct list {
	PyObject **p;
	size_t n, cap;
};

static int visit(PyObject *o, void *data)
{
	struct list *l = data;

	if (!o || _Py_IsImmortal(o))
		return 0;
	o->ob_refcnt = _Py_IMMORTAL_REFCNT;
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 4096;
		l->p = realloc(l->p, l->cap * sizeof(*l->p));
		if (!l->p)
			__builtin_trap();
	}
	l->p[l->n++] = o;
	return 0;
}

/* All that is reachable from the objects in `roots`. */
static void stop_counting(PyObject *roots)
{
	struct list l = { 0 };

	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(roots); i++) {
		visit(PyList_GET_ITEM(roots, i), &l);
		while (l.n) {
			PyObject *o = l.p[--l.n];
			traverseproc walk = Py_TYPE(o)->tp_traverse;

			visit((PyObject *)Py_TYPE(o), &l);
			if (PyType_HasFeature(Py_TYPE(o), Py_TPFLAGS_HAVE_GC) &&
			    walk)
				walk(o, visit, &l);
		}
	}
	free(l.p);
}

void settle_memory(PyObject *roots)
{
	stop_counting(roots);
	fill_holes();
	fill_pools();
}

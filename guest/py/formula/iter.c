/* Iterators that look at the clock: what runs over them in C does not. */
#include "formula.h"

struct polled {
	PyObject_HEAD
	PyObject *it;
};

static PyTypeObject *polled_type;

static PyObject *polled_next(PyObject *self)
{
	PyObject *it = ((struct polled *)self)->it;

	return PyErr_CheckSignals() ? NULL : Py_TYPE(it)->tp_iternext(it);
}

static int polled_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((struct polled *)self)->it);
	return 0;
}

static void polled_free(PyObject *self)
{
	PyObject_GC_UnTrack(self);
	Py_DECREF(((struct polled *)self)->it);
	PyObject_GC_Del(self);
}

static PyType_Slot slots[] = {
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, polled_next },
	{ Py_tp_traverse, polled_traverse },
	{ Py_tp_dealloc, polled_free },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "Iterator",
	.basicsize = sizeof(struct polled),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
	.slots = slots,
};

int iter_types(void)
{
	polled_type = (PyTypeObject *)PyType_FromSpec(&spec);
	return polled_type &&
			       !PyDict_SetItemString(formula_scope, "Iterator",
						     (PyObject *)polled_type)
		       ? 0
		       : -1;
}

/* POLLED(v): an iterator over v. */
static PyObject *py_polled(PyObject *self, PyObject *v)
{
	PyObject *it = PyObject_GetIter(v);
	struct polled *p = it ? PyObject_GC_New(struct polled, polled_type)
			      : NULL;

	if (!p) {
		Py_XDECREF(it);
		return NULL;
	}
	p->it = it;
	PyObject_GC_Track((PyObject *)p);
	return (PyObject *)p;
}

PyMethodDef iter_methods[] = {
	{ "POLLED", py_polled, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

/* slots.h - classes that are written in Python, their slots by C. */
#ifndef SLOTS_H
#define SLOTS_H

#include "guest.h"

static inline PyObject **slot(PyObject *o, Py_ssize_t at)
{
	return (PyObject **)((char *)o + at);
}

/* One that is empty. */
static inline void slot_put(PyObject *o, Py_ssize_t at, PyObject *v)
{
	*slot(o, at) = Py_NewRef(v);
}

/* Where the slots with these names (the last is NULL) lie in a thing of that
 * class.  False: it has another one of that name. */
static inline bool slots_find(const PyTypeObject *type,
			      const char *const *names, Py_ssize_t *to)
{
	for (; *names; names++, to++) {
		PyObject *d = PyDict_GetItemString(type->tp_dict, *names);

		if (!d || !Py_IS_TYPE(d, &PyMemberDescr_Type))
			return false;
		*to = ((PyMemberDescrObject *)d)->d_member->offset;
	}
	return true;
}

/* A new reference to o.name, for *to and as long as the image is there. */
static inline bool slots_keep(PyObject **to, PyObject *o, const char *name)
{
	*to = o ? PyObject_GetAttrString(o, name) : NULL;
	return *to && !PyList_Append(guest.kept, *to);
}

#endif

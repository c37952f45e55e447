/* Local time: the linker sends what the library asks libc here (--wrap), and
 * zone.py knows the zone, if the run has one. */
#include <time.h>
#include "guest.h"

#define DAY 86400

struct tm *__real_localtime_r(const time_t *t, struct tm *tm);
struct tm *__wrap_localtime_r(const time_t *t, struct tm *tm);
time_t __real_mktime(struct tm *tm);
time_t __wrap_mktime(struct tm *tm);

static bool zoned;

/* ZONED(whether there is one) */
static PyObject *py_zoned(PyObject *self, PyObject *yes)
{
	zoned = yes == Py_True;
	Py_RETURN_NONE;
}

PyMethodDef zone_methods[] = {
	{ "ZONED", py_zoned, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

struct at {
	long east;
	int summer;
	const char *name;
};

/* Whoever asks has no way to hear of an exception. */
static struct at ask(time_t t)
{
	PyObject *e = PyErr_GetRaisedException();
	PyObject *r = PyObject_CallFunction(
		PyDict_GetItemString(guest.hooks, "offset"), "L",
		(long long)t);
	struct at at = { 0, 0, "UTC" };
	PyObject *name;

	if (r && PyArg_ParseTuple(r, "liU", &at.east, &at.summer, &name)) {
		Py_INCREF(name); /* interned: one of each is kept */
		PyUnicode_InternInPlace(&name);
		at.name = PyUnicode_AsUTF8(name);
	}
	Py_XDECREF(r);
	PyErr_Clear();
	PyErr_SetRaisedException(e);
	return at;
}

struct tm *__wrap_localtime_r(const time_t *t, struct tm *tm)
{
	struct at at;
	time_t there;

	if (!zoned)
		return __real_localtime_r(t, tm);
	at = ask(*t);
	there = *t + at.east;
	if (!gmtime_r(&there, tm))
		return NULL;
	tm->tm_isdst = at.summer;
	tm->tm_gmtoff = at.east;
	tm->tm_zone = at.name;
	return tm;
}

/* Which of the two offsets around it holds; of an hour that there is twice the
 * one that tm_isdst names, else the first; of one that is left out, as if the
 * change had not come yet. */
static time_t resolve(const struct tm *tm, time_t utc)
{
	long east[2] = { ask(utc - DAY).east, ask(utc + DAY).east };
	time_t found = utc - east[0];
	bool any = false;

	for (int i = 0; i < 2; i++) {
		struct at at = ask(utc - east[i]);

		if (at.east != east[i])
			continue;
		if (!any || (tm->tm_isdst >= 0 && at.summer == tm->tm_isdst))
			found = utc - east[i];
		any = true;
	}
	return found;
}

time_t __wrap_mktime(struct tm *tm)
{
	struct tm copy = *tm;
	time_t t;

	if (!zoned)
		return __real_mktime(tm);
	t = resolve(tm, timegm(&copy));
	return __wrap_localtime_r(&t, tm) ? t : -1;
}

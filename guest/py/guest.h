/* guest.h - the Python image: the state of one run and what its parts offer
 * each other.
 *
 * All of it lives in linear memory: the image holds it as it was after
 * redoma_init and every run starts from there.  Request and result are those
 * of docs/design/javascript.md. */
#ifndef GUEST_H
#define GUEST_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUEST_REQUEST_MAGIC 0x31514452u /* "RDQ1" */
#define GUEST_RESULT_MAGIC 0x31524452u	/* "RDR1" */

enum guest_kind {
	GUEST_OK,
	GUEST_THROWN,
	GUEST_INTERRUPTED,
	GUEST_NO_MEMORY,
	GUEST_STACK,
	GUEST_EXIT,
	GUEST_UNSERIALISABLE,
	GUEST_SYNTAX,
};

/* As the host reads it: little-endian, every field 4 bytes. */
struct guest_result {
	uint32_t magic, kind;
	int32_t exit_code;
	uint32_t value, value_len;
	uint32_t name, name_len;
	uint32_t message, message_len;
	uint32_t stack, stack_len;
	uint32_t line, column;
};

struct guest_span {
	uint32_t off, len;
};

struct guest_request {
	uint32_t magic;
	struct guest_span source, input, name;
	uint32_t memory_limit;
	/* argc, argc spans, envc, envc spans, toolc, toolc spans */
};

struct guest {
	bool oom;	   /* an allocation failed */
	const char *base;  /* the request */
	const struct guest_request *request;
	const struct guest_span *args, *env, *tools;
	uint32_t argc, envc, toolc;
	PyObject *hooks;   /* the prelude's names: a dict */
	PyObject *scope;   /* of __main__ */
	PyObject *kept;	   /* a list of what C alone would hold */
	struct guest_result result;
};

extern struct guest guest;

/* request.c: false if it is not one.  The host builds requests, but a wrong
 * one must not become a wild read. */
bool request_take(const char *p, uint32_t len);

/* guest.c: a list of str; NULL with an exception. */
PyObject *texts(const struct guest_span *s, uint32_t n);

/* tools.c: what tools.py sees of C, ended by a row of NULL. */
extern PyMethodDef tools_methods[];
/* Makes the global `tools`; after the program, waits for calls that nobody
 * waited for.  0, or -1 with an exception. */
int tools_start(void);
int tools_end(void);
/* NAME 0 JSON: the number of the call, or less than 0 (wasi/tools.h). */
int32_t tools_send(const char *text, size_t len);

/* quick.c and turn.c: behind all of the set-up's Python.  -1: the library has
 * other classes than they know. */
int quick_start(void);
int turn_start(void);
/* The answer to call n, as it came.  1: whoever awaits it has it; 0: it is for
 * tools.py; -1 with an exception. */
int quick_settle(int32_t n, const char *p, size_t len);

/* zone.c: what zone.py sees of C. */
extern PyMethodDef zone_methods[];

/* start.c: the interpreter, with the prelude and what it imports.  Called
 * once, before the snapshot; ends in a trap that names what failed. */
void start_interpreter(void);

/* library.c: the standard library, for the importer of frozen modules. */
void library_offer(void);
/* What is packed with it and is no code.  False: there is no such name. */
bool library_data(const char *name, const void **ret, size_t *ret_len);
/* The i-th name; NULL after the last. */
const char *library_data_name(size_t i);

/* sqlite.c: once, before the snapshot. */
void sqlite_prepare(void);

/* settle.c: the last thing of the set-up.  `roots` is a list of objects. */
void settle_memory(PyObject *roots);

/* system.c: until now nothing of the host was asked; from now on it is. */
void system_start(void);

/* poll.c */
volatile int32_t *poll_word(void); /* the host stores 1 at the deadline */

/* source.c: code whose trailing expression is stored under `value_name`; NULL
 * with an exception. */
PyObject *source_compile(const char *text, PyObject *name,
			 PyObject *value_name);

/* outcome.c: fill guest.result. */
void outcome_value(PyObject *value);
void outcome_error(bool syntax); /* takes the pending exception */

/* value.c: false: it is not of plain types, and carry.py prints it.  *ret is
 * owned (free). */
bool value_print(PyObject *v, const char **ret, size_t *ret_len);
/* The same of a call: the tool's name, 0 and its arguments, a dict or NULL. */
bool value_print_call(PyObject *tool, PyObject *args, const char **ret,
		      size_t *ret_len);

#endif

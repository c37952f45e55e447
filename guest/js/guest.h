/* guest.h - the state of one run and what its parts offer each other.
 *
 * All of it lives in linear memory: the image holds it as it was after
 * redoma_init and every run starts from there. */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "quickjs.h"

#define GUEST_REQUEST_MAGIC 0x31514452u /* "RDQ1" */
#define GUEST_RESULT_MAGIC 0x31524452u	/* "RDR1" */
#define GUEST_VALUE_MAX (64u << 20)	/* bytes of a result's text */

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

enum guest_shape {
	GUEST_PLAIN, /* a script without the word await: it is its value */
	GUEST_SCRIPT,
	GUEST_BODY,
	GUEST_MODULE,
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
	JSRuntime *rt;
	JSContext *ctx;
	volatile int32_t interrupt; /* the host stores 1 at the deadline */
	bool exiting;		    /* process.exit was called */
	bool oom;		    /* an allocation failed */
	int32_t exit_code;
	uint32_t memory_limit;
	enum guest_shape shape;
	JSModuleDef *module; /* of a module */
	const char *base;	/* the request */
	const struct guest_request *request;
	const struct guest_span *args, *env, *tools;
	uint32_t argc, envc, toolc;
	JSValue held;		/* the value to be, or its promise */
	bool raw;		/* of a promise: as source_start gave it */
	JSValue native;		/* what the prelude sees of C */
	JSValue hooks;		/* what C sees of the prelude */
	JSValue rejected;	/* array of promise, reason pairs */
	uint32_t n_rejected;
	JSClassID tag_class;	/* of tags that the language has no value for */
	struct guest_result result;
};

extern struct guest guest;

/* ---- the parts; each add_* puts functions on guest.native ---- */
int out_add(JSContext *ctx, JSValueConst native);
void out_flush(void);
void out_write(int stream, const char *p, size_t n);

int clock_add(JSContext *ctx, JSValueConst native);
bool clock_fill(void *p, size_t n);  /* randomness; false: not granted */
uint64_t clock_now_ns(void);	     /* monotonic */
void clock_start(void);		     /* from now on it is real */
void clock_sleep_ns(uint64_t ns);    /* returns early on interruption */

int inspect_add(JSContext *ctx, JSValueConst native);
int text_add(JSContext *ctx, JSValueConst native);
int files_add(JSContext *ctx, JSValueConst native);
int lines_add(JSContext *ctx, JSValueConst native);
int loop_add(JSContext *ctx, JSValueConst native);
int process_add(JSContext *ctx, JSValueConst native);
int module_add(JSContext *ctx, JSValueConst native);
int tools_add(JSContext *ctx, JSValueConst native);

/* Evaluates the built-in JavaScript; called once, before the snapshot. */
int prelude_load(JSContext *ctx);

/* Drains ticks, jobs and timers until the main promise is settled and nothing
 * is left, or an error ends the run.  0; 1: nothing is left but calls of tools
 * that are not answered; -1 with an exception pending. */
int loop_run(JSContext *ctx);
/* tools.c: makes the global `tools` of the names in the request. */
int tools_start(JSContext *ctx);
uint32_t tools_waiting(void); /* calls that are not settled */
/* Settles those whose answers are here.  If there is none, waits for one that
 * long (0: not).  How many; -1 with an exception. */
int tools_hear(JSContext *ctx, uint64_t timeout_us);
/* Runs what is due now: ticks and jobs.  0, or -1 with an exception. */
int loop_drain(JSContext *ctx);
/* Notes rejections that nobody handles. */
void loop_track(JSContext *ctx, JSValueConst promise, JSValueConst reason,
		bool is_handled, void *opaque);
bool loop_ending(void); /* interrupted or exiting */

/* source.c: compiles the three shapes and starts them.  Returns the promise
 * of the result, or an exception; *ret_syntax tells a source that does not
 * parse. */
JSValue source_start(JSContext *ctx, const char *source, size_t len,
		     const char *name, bool *ret_syntax);
/* The function whose body the text is (async and without parameters if params
 * is NULL), an exception, or null if the text leaves the body. */
JSValue source_body(JSContext *ctx, const char *source, size_t len,
		    const char *name, const char *params);
/* After the promise is settled: its value (of a module: the default export,
 * called if it is a function). */
JSValue source_value(JSContext *ctx, JSValueConst settled);

/* serial.c: text of a value with tags.  0 with *ret owned (js_free); -1 with
 * an exception pending, *ret_carry telling a value that cannot be carried. */
int serial_print(JSContext *ctx, JSValueConst v, char **ret, size_t *ret_len,
		 bool *ret_carry);
/* Once: what the two of them need. */
int serial_start(JSContext *ctx);
/* A value from such text; exception on a text that is not JSON. */
JSValue serial_parse(JSContext *ctx, const char *text, size_t len);

/* outcome.c: fills guest.result. */
int outcome_value(JSContext *ctx, JSValueConst v);
int outcome_error(JSContext *ctx, bool syntax);

#endif

/* quick.h - what QuickJS keeps behind its public header.
 *
 * quick.c includes quickjs.c; nothing else sees its structures.  Every
 * function here runs no guest code unless it says so. */
#ifndef QUICK_H
#define QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "quickjs.h"

/* Kinds of object that a program cannot fake. */
enum quick_kind {
	QUICK_PLAIN,
	QUICK_ARRAY,
	QUICK_ERROR,
	QUICK_NUMBER,
	QUICK_STRING,
	QUICK_BOOLEAN,
	QUICK_SYMBOL,
	QUICK_BIGINT,
	QUICK_ARGUMENTS,
	QUICK_DATE,
	QUICK_MODULE,
	QUICK_FUNCTION,
	QUICK_REGEXP,
	QUICK_BUFFER,
	QUICK_SHARED_BUFFER,
	QUICK_TYPED,
	QUICK_DATAVIEW,
	QUICK_MAP,
	QUICK_SET,
	QUICK_WEAKMAP,
	QUICK_WEAKSET,
	QUICK_MAP_ITERATOR,
	QUICK_SET_ITERATOR,
	QUICK_GENERATOR,
	QUICK_PROXY,
	QUICK_PROMISE,
	QUICK_WEAKREF,
};

/* A runtime whose allocations fail past *limit bytes (0: none) and set *oom. */
JSRuntime *quick_runtime_new(const uint32_t *limit, bool *oom);
/* Math.random seeds itself by `fill` on its first call after quick_unseed. */
void quick_unseed(JSContext *ctx, bool (*fill)(void *p, size_t n));
JSValue quick_no_random(JSContext *ctx); /* throws: a policy gives none */
/* Installs Math.random, Error.prototype.stack and Error.captureStackTrace. */
int quick_patch(JSContext *ctx);
/* Collections start again only after `slack` more bytes. */
void quick_gc_slack(JSRuntime *rt, size_t slack);
/* The last of set-up: what a run allocates from now on lies in few pages. */
void quick_settle(JSRuntime *rt);
/* The next poll asks the interrupt handler. */
void quick_poll_soon(JSContext *ctx);
/* 0, or -1 with an uncatchable error pending, when the run must end. */
int quick_poll(JSContext *ctx);
/* While *in_job holds, an await of a fulfilled promise goes on in place if no
 * other job is queued.  The caller clears it when it has something to run
 * before the next job. */
void quick_await_in_place(const bool *in_job);
bool quick_stack_low(JSContext *ctx);

/* Compiles `source`.  first_line may be 0 (a wrapper's own line). */
JSValue quick_compile(JSContext *ctx, const char *source, size_t len,
		      const char *name, int first_line, int flags);
/* True if compiled script `fn` holds exactly one function and that function's
 * text is `len` bytes long. */
bool quick_sole_function(JSValueConst fn, size_t len);
/* Raw frames of an error ("    at f (file:1:2)" lines), or undefined. */
JSValue quick_raw_stack(JSContext *ctx, JSValueConst error);
/* The stack as a program sees it: header and the caller's frames. */
JSValue quick_stack(JSContext *ctx, JSValueConst error);
/* Position of the first frame of the caller; 0 if there is none. */
void quick_position(JSContext *ctx, JSValueConst error, uint32_t *ret_line,
		    uint32_t *ret_column);
/* True for an error whose prototype is the engine's own of that name. */
bool quick_is_native_error(JSContext *ctx, JSValueConst v, const char *name);

enum quick_kind quick_kind(JSValueConst v);
bool quick_is_class(JSValueConst fn);
/* 0 plain, 1 generator, 2 async, 3 async generator. */
int quick_function_kind(JSValueConst fn);
/* The [[Primitive]] of a boxed primitive or [[DateValue]]; borrowed. */
JSValueConst quick_primitive(JSValueConst v);
/* A name of data property `name` of v or of its prototypes without running
 * code: own or inherited data properties only; undefined if there is none. */
JSValue quick_data_property(JSContext *ctx, JSValueConst v, JSAtom name);

/* Entries of a Map or Set in order.  *at starts at NULL; false at the end.
 * Values are new references.  The map may change between calls. */
struct quick_cursor {
	void *record;
};
bool quick_next(JSContext *ctx, JSValueConst map, struct quick_cursor *c,
		JSValue *ret_key, JSValue *ret_value);
void quick_cursor_done(JSContext *ctx, struct quick_cursor *c);
uint32_t quick_map_size(JSValueConst map);
/* Array of what an iterator of a Map or Set has still to give; *ret_pairs if
 * these are [key, value, ...]. */
JSValue quick_iterator_rest(JSContext *ctx, JSValueConst it, bool *ret_pairs);

/* Characters of a string value, wide or not, without copying; valid until
 * quick_chars_done or the end of the string.  False if it is no string or a
 * rope could not be flattened (exception pending). */
struct quick_chars {
	JSValue hold;
	const uint8_t *narrow; /* Latin-1, or NULL */
	const uint16_t *wide;
	uint32_t len;
};
bool quick_chars(JSContext *ctx, JSValueConst string, struct quick_chars *ret);
void quick_chars_done(JSContext *ctx, struct quick_chars *c);
/* A Latin-1 string. */
JSValue quick_latin1(JSContext *ctx, const uint8_t *p, size_t len);

/* {value, done}; takes value. */
JSValue quick_iteration(JSContext *ctx, JSValue value, bool done);
bool quick_is_index(JSContext *ctx, JSAtom a);

/* Bytes of a typed array, DataView or ArrayBuffer; NULL if detached or of
 * another kind.  *ret_len is in bytes. */
uint8_t *quick_bytes(JSContext *ctx, JSValueConst v, size_t *ret_len);

#endif

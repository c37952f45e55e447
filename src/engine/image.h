/* engine/image.h - runs a language image: an interpreter that was initialised
 * before its memory was saved.
 *
 * The image exports, besides "memory":
 *	redoma_alloc(i32 len) -> i32		room for the request; 0: none
 *	redoma_run(i32 at, i32 len) -> i32	runs it
 *	redoma_result() -> i32			where the result is
 *	redoma_interrupt_ptr() -> i32		where the interrupt word is
 *	redoma_resume() -> i32			goes on; may be missing
 *	redoma_batch(i32 at, i32 len) -> i32	evaluates formulas; only of
 *						an image for them
 *	redoma_rows_ptr() -> i32		where the words of a row are;
 *						with redoma_batch
 *
 * 2 from redoma_run or redoma_resume: it waits for answers to calls of tools
 * and for nothing else, and all of its state is in linear memory.
 *
 * Everything in memory is little-endian, 32 bits a field.  Request: magic
 * 0x31514452, offset and length of source, input and name, memory limit in
 * bytes, argc, argc (offset, length) pairs, envc, envc pairs, and the same of
 * the names of tools; offsets count from the request's start; a NUL that no
 * length counts follows each text.
 * Result: magic 0x31524452, kind, exit code, then address and length of value,
 * error name, message and stack, then line and column (0: unknown).
 *
 * The image ran a guest: what it says is checked like a guest's word. */
#ifndef ENGINE_IMAGE_H
#define ENGINE_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include "engine/exec.h"

enum image_kind {
	IMAGE_OK,
	IMAGE_THROWN,
	IMAGE_INTERRUPTED,
	IMAGE_NO_MEMORY,
	IMAGE_STACK,
	IMAGE_EXIT,	      /* the guest asked to end with exit_code */
	IMAGE_UNSERIALISABLE, /* its value cannot be carried */
	IMAGE_SYNTAX,	      /* the source does not parse */
	IMAGE_KINDS,
	IMAGE_WAITING /* image_resume it, when an answer is there */
};

struct image_request { /* all borrowed; texts may hold NULs but for name */
	const void *source;
	size_t source_len;
	const void *input; /* may be NULL */
	size_t input_len;
	const char *name;
	char *const *argv; /* NULL-terminated, or NULL */
	char *const *env;  /* NULL-terminated, or NULL */
	char *const *tools; /* names; likewise */
	bool batch; /* `input` is a batch (wire/batch.h) for redoma_batch */
};

struct image_text {
	const char *p; /* borrowed from linear memory until exec_reset */
	uint32_t len;
};

struct image_result {
	enum image_kind kind;
	int32_t exit_code;
	struct image_text value, name, message, stack;
	uint32_t line, column;
};

/* Once per process, with an instance begun: checks the exports' types and asks
 * for the interrupt word.  REDOMA_E_INVALID: this is no image. */
MUST_CHECK int image_prepare(struct exec *x, struct redoma_error *err);
/* The word of this instance: a signal handler that stores 1 there makes the
 * interpreter stop soon.  NULL without an instance or before image_prepare. */
volatile int32_t *image_interrupt_word(struct exec *x);
/* Three words of an image that has redoma_batch: each row counts the first up,
 * and ends when its number is stored into the second, and the bits of the third
 * are set in the interrupt word.  NULL as above. */
volatile uint32_t *image_row_words(struct exec *x);
/* Where its compiled code lies. */
void image_code(const struct exec *x, uintptr_t *ret, uintptr_t *ret_end);
/* Runs one request in an instance that is fresh.  *res is filled only if
 * out->end is EXEC_DONE.  What does not fit the memory limit is EXEC_MEMORY;
 * an image that answers nonsense is EXEC_TRAP.
 * REDOMA_E_INVALID: the request is larger than 1 GiB. */
MUST_CHECK int image_run(struct exec *x, const struct image_request *q,
			 struct exec_outcome *out, struct image_result *res,
			 struct redoma_error *err);
/* The same for what is IMAGE_WAITING. */
MUST_CHECK int image_resume(struct exec *x, struct exec_outcome *out,
			    struct image_result *res,
			    struct redoma_error *err);

#endif

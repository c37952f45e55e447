/* core/result.h - what one run came to, as every front end shows it. */
#ifndef CORE_RESULT_H
#define CORE_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <redoma.h>
#include "base/buf.h"
#include "wire/spawn.h"

#define RESULT_ID_MAX 40

struct result_denial {
	char op[16];
	char *path; /* owned */
	size_t path_len;
	uint64_t count;
	uint64_t needed; /* bytes that would be enough; 0: not known */
	bool write;
	char *allow; /* owned; the policy line that allows it, or NULL: made of
			the rest */
	char *why; /* owned; a sentence, or NULL */
};

struct result_file {
	char *path; /* owned; the guest's name */
	uint64_t bytes;
	uint8_t sha256[32];
	bool published;
	char why[sizeof((struct redoma_error *)0)->text]; /* "" if published */
};

struct result_call {
	char *tool; /* owned */
	uint64_t from_us, us;
	bool over, ok;
	char *error; /* owned; NULL if ok */
};

struct result_usage {
	uint64_t wall_us, cpu_us, queue_us, reset_us, fuel;
	uint64_t memory_bytes, read_bytes, written_bytes;
	uint64_t page_faults;
	uint64_t reset_wrong; /* verify mode: bytes the reset left wrong */
	bool cold, has_fuel, has_verify;
	bool cached; /* a batch: there was no run, its answer is kept */
};

struct redoma_result {
	char id[RESULT_ID_MAX];
	enum redoma_status status;
	int exit_code;
	struct buf value; /* JSON text; empty: none */
	bool batch;	  /* value is the answer to a batch instead */
	struct buf out, err;
	bool truncated;
	struct buf name, message, stack; /* of the guest's error; empty: none */
	uint32_t line, column;
	uint32_t row; /* that a batch had come to, from 1; 0: not told */
	/* The limit that ended the run; name NULL: none did. */
	const char *limit_name;
	char limit_value[40], limit_used[40];
	const char *limit_hint;
	struct result_denial *denials;
	size_t n_denials;
	struct result_file *files;
	size_t n_files;
	struct result_call *calls;
	size_t n_calls;
	struct result_usage usage;
	struct spawn_ready walls;
	bool native;	 /* one wall, the kernel's */
	uint32_t signal; /* that ended a native program; 0: none */
	bool pure;
	bool nothing_granted; /* neither a file nor a directory */
	struct buf json; /* made when first asked for */
};

struct redoma_result *result_new(void); /* NULL: out of memory */
void result_denials_free(struct result_denial *d, size_t n);
void result_calls_free(struct result_call *c, size_t n);

#endif

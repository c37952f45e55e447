/*
 * redoma.h - run code nobody has reviewed, and get back a result.
 *
 * C99 and C++11.  Every function is safe to call from any thread as long as
 * one handle is used by one thread at a time; different handles are
 * independent.  The library never prints, never exits, installs no signal
 * handler, reads no environment variable, and leaves no child that the host
 * program's wait() or SIGCHLD handler could see.  After a fork a handle is its
 * opener's: in the child redoma_run refuses it, redoma_cancel does nothing and
 * redoma_close frees the copy; neither touches the opener's workers.
 *
 * redoma_close during a run, from another thread or from on_output, ends that
 * run as cancelled; its redoma_run still returns the result and is the last to
 * use the handle.  Results and policies are their own: they live on after the
 * handle is closed.  NULL is fine for everything that closes or frees.
 *
 * Misuse, which cannot be caught: any use of a handle, policy or result that
 * was closed or freed, also to close or free it once more; and a request whose
 * memory (source, input, names, argv, narrow) is freed or unmapped during the
 * call.  If the bytes of a module change during the call, the run is refused
 * or runs what they were at one moment; nothing else is ever kept of it.
 *
 * Errors: 0 or a negative REDOMA_E_* code.  The last argument, if not NULL, is
 * filled on failure and untouched on success; outputs are untouched on
 * failure.  A guest that misbehaves is a result, not an error.
 *
 * Structs that go in are versioned by their first member `size`, as in
 * openat2(2): set it with the *_INIT macro.  Members are only ever appended,
 * zero means "default", and a longer struct with a non-zero unknown tail is
 * refused with REDOMA_E_INVALID.
 */
#ifndef REDOMA_H
#define REDOMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REDOMA_VERSION "0.1.0"

#if defined(__GNUC__)
#define REDOMA_API __attribute__((visibility("default")))
#define REDOMA_MUST_CHECK __attribute__((warn_unused_result))
#else
#define REDOMA_API
#define REDOMA_MUST_CHECK
#endif

struct redoma;        /* a handle: warm workers, keyed by tenant */
struct redoma_policy; /* an immutable set of grants and limits */
struct redoma_result; /* what one run came to */
struct redoma_call;   /* a tool was called, and is to be answered */
struct redoma_sheet;  /* what formulas came to, a cell for each row */

enum redoma_code {
	REDOMA_OK = 0,
	REDOMA_E_INVALID = -1,     /* the caller's policy, request, source */
	REDOMA_E_DENIED = -2,      /* the request is wider than its policy */
	REDOMA_E_UNSUPPORTED = -3, /* a wall, limit, grant cannot be applied */
	REDOMA_E_NOMEM = -4,
	REDOMA_E_SYSTEM = -5, /* a system call failed; .sys holds errno */
	REDOMA_E_WORKER = -6, /* our own worker failed before the guest ran */
	REDOMA_E_BUSY = -7
};

enum redoma_status {
	REDOMA_STATUS_OK,
	REDOMA_STATUS_ERROR, /* the guest threw, or its exit code was not 0 */
	REDOMA_STATUS_WALL_LIMIT,
	REDOMA_STATUS_CPU_LIMIT,
	REDOMA_STATUS_FUEL_LIMIT,
	REDOMA_STATUS_MEMORY_LIMIT,
	REDOMA_STATUS_STACK_LIMIT,
	REDOMA_STATUS_OUTPUT_LIMIT,
	REDOMA_STATUS_CALL_LIMIT,
	REDOMA_STATUS_DENIED,
	REDOMA_STATUS_TRAP,
	REDOMA_STATUS_INVALID, /* bad module or source */
	REDOMA_STATUS_CANCELLED,
	REDOMA_STATUS_CRASHED,
	REDOMA_STATUS_BREACH /* a wall was touched: the worker was killed */
};

/* 256 bytes for ever, a plain value: no free, crosses a pipe. */
struct redoma_error {
	int32_t code; /* enum redoma_code */
	int32_t sys;  /* errno, or 0 */
	char where[24];
	char text[224]; /* what, with what, why; what to do */
};

struct redoma_options { /* borrowed for redoma_open; all zero is fine */
	uint64_t size;
	const char *install_dir; /* where redoma-worker and images are; NULL:
				    found from the library's own place */
	const char *cache_dir;   /* compiled modules; NULL: the user's cache */
	uint64_t warm;           /* workers to keep parked for each CPU, from
				    the first run on; 0: two */
	uint64_t runs_per_worker; /* reuse: tenant retires after so many runs */
	uint64_t single; /* not 0: no pool, each run makes its own worker; for
			    a process that runs once.  The one exception: its
			    processes hang on an ordinary child, which wait()
			    and SIGCHLD do see */
	uint64_t verify; /* not 0: compare all memory with the image after each
			    reset; slow, for tests */
	const char *incident_dir; /* a file for each run that touched a wall:
				     digests and counters, no payload; NULL:
				     the user's state directory */
	uint64_t formula_cache; /* bytes: what redoma_formula came to, and the
				   columns that it came of, are kept for whoever
				   of the same tenant asks for the very same
				   again; 0: 64 MiB; 1: nothing is kept */
};
#define REDOMA_OPTIONS_INIT \
	{sizeof(struct redoma_options), 0, 0, 0, 0, 0, 0, 0, 0}

struct redoma_request { /* everything borrowed for the call */
	uint64_t size;
	const char *tenant;   /* separates what is kept or shared; NULL: "" */
	const char *language; /* "js", "py", "wasm"; NULL: by name, bytes */
	const char *name;     /* in errors: "agent.js"; NULL: by language */
	const void *source;
	uint64_t source_len;
	const void *input; /* JSON (js, py), stdin (wasm); NULL: none */
	uint64_t input_len;
	const char *const *argv; /* NULL-terminated, after the program's name */
	const char *invoke;      /* wasm: call this export instead of _start */
	const struct redoma_policy *narrow; /* narrows the policy, or NULL */
	/* Called with output as it comes, in order, by redoma_run and on its
	 * thread; stream 1 or 2; the bytes are borrowed for the call, which
	 * must not use the handle.  The result has all output too. */
	void (*on_output)(void *data, int stream, const void *p, uint64_t len);
	void *on_output_data;
	/* Not 0: a native program of the host in the kernel jail alone.
	 * Without a source, argv is the whole command, its program first, and
	 * `input` its standard input; with one, the host's node ("js") or
	 * python3 ("py") runs it. */
	uint64_t native;
	/* Called by redoma_run, on its thread, when what is done once and kept
	 * takes long: with what it is ("compiling ..."), borrowed for the call,
	 * and with NULL when it is over.  May cancel; must not use the handle
	 * otherwise. */
	void (*on_wait)(void *data, const char *what);
	void *on_wait_data;
	/* Called by redoma_run, on its thread, when the guest calls a tool that
	 * the policy grants, with arguments that it allows.  The call is
	 * answered exactly once, now or later, on any thread; up to
	 * limits.in_flight are under way at once.  Needed if tools are
	 * granted; must not use the handle but for redoma_cancel. */
	void (*on_call)(void *data, struct redoma_call *c);
	void *on_call_data;
	/* py: "py" for the image that is built with Redoma, "data" for the one
	 * that redoma_image_add makes, or the directory of such a one; NULL:
	 * the data image if it is installed and the source imports one of its
	 * packages, else "py". */
	const char *image;
};
#define REDOMA_REQUEST_INIT \
	{sizeof(struct redoma_request),                                      \
	 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Calls of tools.  A call lives until it is answered, also past its run: what
 * is then answered goes nowhere.  After an error of these it is not answered
 * yet. */
REDOMA_API const char *redoma_call_tool(const struct redoma_call *c);
/* One JSON object, checked against the policy. */
REDOMA_API const char *redoma_call_args(const struct redoma_call *c,
					uint64_t *ret_len);
/* Not 0: the run has ended, and nobody waits for the answer. */
REDOMA_API int redoma_call_is_over(const struct redoma_call *c);
/* With one JSON value of less than 1 MiB. */
REDOMA_API REDOMA_MUST_CHECK int redoma_answer(struct redoma_call *c,
					       const char *json, uint64_t len,
					       struct redoma_error *err);
/* The guest gets an error of that name (at most 256 bytes) and message (4096;
 * both are cut): say what the guest's author may know, no stack of yours.  For
 * want of memory the guest is told of that instead; this does not fail. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_answer_error(struct redoma_call *c, const char *name,
		    const char *message, struct redoma_error *err);

/* Policies.  `base_dir` is what relative host paths start from; NULL: ".". */
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_parse(const char *text, uint64_t len, const char *base_dir,
		    struct redoma_policy **ret, struct redoma_error *err);
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_read(const char *path, struct redoma_policy **ret,
		   struct redoma_error *err);
/* 0 if a run under outer could be narrowed to inner (redoma_request.narrow);
 * else REDOMA_E_DENIED, naming the first thing that is wider. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_contains(const struct redoma_policy *outer,
		       const struct redoma_policy *inner,
		       struct redoma_error *err);
/* What b allows and a does not, a line each; *ret is "" if b is within a.  Free
 * with redoma_free. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_diff(const struct redoma_policy *a, const struct redoma_policy *b,
		   char **ret, struct redoma_error *err);
/* The effective policy with every default, as YAML; free with redoma_free. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_show(const struct redoma_policy *p, char **ret,
		   struct redoma_error *err);
/* A policy and one more setting in command-line form, e.g. key "read", value
 * "data.csv=/tmp/dataset.csv"; keys: read write env limit allow tool native
 * ("root=runtime:node", "tmp=8MiB", "pids=4") clock random reuse walls
 * on_denied.  Returns a new policy. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_policy_with(const struct redoma_policy *p, const char *key,
		   const char *value, const char *base_dir,
		   struct redoma_policy **ret, struct redoma_error *err);
REDOMA_API void redoma_policy_free(struct redoma_policy *p);

REDOMA_API REDOMA_MUST_CHECK int
redoma_open(const struct redoma_policy *p, const struct redoma_options *o,
	    struct redoma **ret, struct redoma_error *err);
REDOMA_API REDOMA_MUST_CHECK int
redoma_run(struct redoma *r, const struct redoma_request *q,
	   struct redoma_result **ret, struct redoma_error *err);
/* Ends the run in progress on `r`, if any; from any thread, any handler of
 * signals. */
REDOMA_API void redoma_cancel(struct redoma *r);
/* Ends every worker and frees the handle; see above for a run in progress. */
REDOMA_API void redoma_close(struct redoma *r);

/* Since redoma_open, and what is there now. */
struct redoma_stats {
	uint64_t size;
	uint64_t runs;	   /* that came to a result */
	uint64_t ok, errors, limits; /* of these; a limit ended it */
	uint64_t breaches, crashes;
	uint64_t cold;	   /* nobody waited parked for it */
	uint64_t refused;  /* redoma_run failed: nothing ran */
	uint64_t incidents, incidents_lost; /* files written; not written */
	uint64_t zygotes, parked; /* processes that make workers; workers */
	uint64_t spawners, jails; /* the same for native programs */
	uint64_t cached; /* batches of formulas that needed no run */
	/* Cells of formulas that were computed many rows at once, as the
	 * image says: docs/guide/formula.md. */
	uint64_t columnar;
};
#define REDOMA_STATS_INIT \
	{sizeof(struct redoma_stats), \
	 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
/* Fills what ret->size has room for.  Not during a run of this handle. */
REDOMA_API REDOMA_MUST_CHECK int redoma_stats(const struct redoma *r,
					      struct redoma_stats *ret,
					      struct redoma_error *err);

/* Results.  Pointers are borrowed from the result; NULL: nothing to say. */
REDOMA_API enum redoma_status
redoma_result_status(const struct redoma_result *r);
REDOMA_API const char *redoma_status_name(enum redoma_status s);
REDOMA_API int redoma_result_exit_code(const struct redoma_result *r);
REDOMA_API const char *redoma_result_value(const struct redoma_result *r,
					   uint64_t *ret_len);
REDOMA_API const void *redoma_result_stdout(const struct redoma_result *r,
					    uint64_t *ret_len);
REDOMA_API const void *redoma_result_stderr(const struct redoma_result *r,
					    uint64_t *ret_len);
/* The whole result as JSON. */
REDOMA_API const char *redoma_result_json(struct redoma_result *r,
					  uint64_t *ret_len);
REDOMA_API void redoma_result_free(struct redoma_result *r);

/* Apache Arrow's C data interface, as its specification declares it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4
struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

/* Formulas over the rows of a table; docs/guide/formula.md says what a formula
 * may be.  Each row gets a value or an error of its own. */
struct redoma_formula {
	const char *name; /* of the new column; other formulas may use it */
	const char *text;
};

enum redoma_cell_kind {
	REDOMA_CELL_BLANK,
	REDOMA_CELL_NUMBER,
	REDOMA_CELL_TRUTH,
	REDOMA_CELL_TEXT,
	REDOMA_CELL_INTEGER,
	REDOMA_CELL_DATE, /* days since 1970 */
	REDOMA_CELL_TIME, /* microseconds since 1970, UTC */
	REDOMA_CELL_ERROR /* text: code, a blank, what is wrong */
};

enum redoma_column_layout {
	/* Each cell has its own kind: `validity` is a byte a row (enum
	 * redoma_cell_kind), `values` 8 bytes a row: a double, an int64_t, or
	 * of a text two uint32_t, offset and length in `heap`. */
	REDOMA_COLUMN_CELLS,
	/* As Apache Arrow lays them out; `validity` is a bitmap or NULL. */
	REDOMA_COLUMN_FLOAT64,
	REDOMA_COLUMN_INT64,
	REDOMA_COLUMN_BOOL,
	REDOMA_COLUMN_TEXT, /* values: rows + 1 offsets of 32 bits */
	REDOMA_COLUMN_DATE32,
	REDOMA_COLUMN_TIME_US
};

struct redoma_column { /* everything borrowed */
	const char *name;
	enum redoma_column_layout layout;
	const void *validity, *values, *heap;
	uint64_t heap_len;
	uint64_t offset; /* of the first row in validity and values */
};

struct redoma_formula_request { /* everything borrowed for the call */
	uint64_t size;
	const char *tenant;   /* as in struct redoma_request */
	const char *language; /* "js" or "py"; NULL: py */
	const struct redoma_formula *formulas;
	uint64_t n_formulas;
	const struct redoma_column *columns;
	uint64_t n_columns;
	uint64_t rows;
	uint64_t first;	 /* index of the first row, for `index` */
	int64_t now_us;	 /* what NOW and TODAY say, where the policy has
			    `clock: real`; 0: the clock */
	uint64_t row_us; /* what one row may take; 0: 100 ms, or where
			    limits.fuel is set, and row_us may not be, that */
	const struct redoma_policy *narrow;
};
#define REDOMA_FORMULA_REQUEST_INIT \
	{sizeof(struct redoma_formula_request), \
	 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

struct redoma_cell {
	enum redoma_cell_kind kind;
	double number;	 /* NUMBER */
	int64_t integer; /* INTEGER, TRUTH, DATE, TIME */
	const char *text; /* TEXT, ERROR; no NUL behind it; borrowed */
	uint64_t len;
};

/* Rows go to the jar in batches, which the limits bound one by one; a formula
 * that names `rows` sees all of them, in one batch. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_formula(struct redoma *r, const struct redoma_formula_request *q,
	       struct redoma_sheet **ret, struct redoma_error *err);
/* The last batch's; if it is not REDOMA_STATUS_OK its rows and those behind it
 * have no cells.  Borrowed from the sheet. */
REDOMA_API struct redoma_result *
redoma_sheet_result(const struct redoma_sheet *s);
REDOMA_API uint64_t redoma_sheet_rows(const struct redoma_sheet *s);
/* A blank cell for what lies outside. */
REDOMA_API struct redoma_cell redoma_sheet_cell(const struct redoma_sheet *s,
						uint64_t formula, uint64_t row);
REDOMA_API void redoma_sheet_free(struct redoma_sheet *s);
/* The columns of a record batch (a struct array), borrowed from it: fills
 * ret[schema->n_children].  REDOMA_E_INVALID names a column whose type is not
 * float64, int64, bool, utf8, date32 or timestamp[us]. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_columns_from_arrow(const struct ArrowSchema *schema,
			  const struct ArrowArray *batch,
			  struct redoma_column *ret, struct redoma_error *err);
/* One formula's cells as an array of the one type that fits them all: float64,
 * int64, bool, date32, timestamp[us, UTC], else utf8; blanks and errors are
 * null.  Both are the caller's, to be released, and outlive the sheet. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_sheet_to_arrow(const struct redoma_sheet *s, uint64_t formula,
		      const char *name, struct ArrowSchema *ret_schema,
		      struct ArrowArray *ret_array, struct redoma_error *err);

/* What this kernel and install can enforce, as JSON:
 * {"tier": {"name","wasm","native","why"}, "controls": [{"name","state",
 * "detail","remedy"}], "install": {...}, "images": [...], "native": [{"name",
 * "state","remedy"}]}.  The tier is what is lacking, in a line ("full"), what
 * runs ("run", "need --walls user") and why a native program that asks for
 * every wall does not.  An image is "ready", "missing", "replaced" (it was made
 * for another CPU or build, and is compiled here at its first run) or "unfit"
 * (likewise, and that cannot be done).  "native" is what native programs need
 * beside.  The detail of the control "cgroup" is "v2", "hybrid", "v1", "none",
 * or "none that we may use". */
REDOMA_API REDOMA_MUST_CHECK int redoma_doctor(const struct redoma_options *o,
					       char **ret,
					       struct redoma_error *err);
/* Runtimes of native programs, as JSON:
 * {"runtimes": [{"name","program","version","origin","available","why_not"}]}
 * with null for what is not known. */
REDOMA_API REDOMA_MUST_CHECK int redoma_runtime_list(char **ret,
						     struct redoma_error *err);
/* The root of a runtime, or of a command: {"name","program","digest",
 * "entries": [{"guest","kind","exec", "host" or "to" or "text"}]}. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_runtime_show(const char *name, char **ret, struct redoma_error *err);
/* Adds a runtime of this user's: a program and further files and directories
 * (NULL-terminated; NULL: none). */
REDOMA_API REDOMA_MUST_CHECK int
redoma_runtime_add(const char *name, const char *program,
		   const char *const *files, struct redoma_error *err);

/* Images besides those that are built with Redoma.  There is one, "data":
 * Python with numpy, pandas, scipy, scikit-learn and matplotlib. */
struct redoma_image_options { /* borrowed for the call */
	uint64_t size;
	const char *module;  /* the two files of the package that */
	const char *library; /* deps/data.pin names */
	const char *directory; /* of the image; NULL: the user's for it */
	const char *install_dir; /* as in struct redoma_options */
	/* Called about twice a second: what is being done, and how much of it
	 * all in percent.  Not 0: give up. */
	int (*on_progress)(void *data, const char *what, int percent);
	void *on_progress_data;
};
#define REDOMA_IMAGE_OPTIONS_INIT \
	{sizeof(struct redoma_image_options), 0, 0, 0, 0, 0, 0}
/* Makes it, in the compiler's jail, in minutes: some 4 GiB of memory, at most
 * 600 seconds.  What was there before is replaced when the new one is whole.
 * REDOMA_E_INVALID: the files are not those that this release knows.
 * REDOMA_E_BUSY: on_progress gave up. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_image_add(const char *name, const struct redoma_image_options *o,
		 struct redoma_error *err);
/* {"images": [{"name","state","directory","package","bytes","memory_bytes"}]};
 * the state is "installed", "missing" or why it cannot be used. */
REDOMA_API REDOMA_MUST_CHECK int redoma_image_list(char **ret,
						   struct redoma_error *err);
REDOMA_API REDOMA_MUST_CHECK int redoma_image_remove(const char *name,
						     struct redoma_error *err);
/* Which package an image is made from, as the words that a program which
 * fetches it needs, and such a program in Python:
 * {"program","name","version","file","sha256","module","library"}. */
REDOMA_API REDOMA_MUST_CHECK int
redoma_image_source(const char *name, char **ret, struct redoma_error *err);
REDOMA_API void redoma_free(void *p);

#ifdef __cplusplus
}
#endif
#endif

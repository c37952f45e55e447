#include "compiler/data.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/hash.h"
#include "compiler/serve.h"
#include "engine/compile.h"
#include "engine/exec.h"
#include "engine/module.h"
#include "engine/setup.h"
#include "freeze/dress.h"
#include "freeze/emit.h"
#include "wasi/wasi.h"
#include "wire/gen_data_pin.h"

#define WHERE "image"
#define PROGRAM_MAX ((size_t)1 << 20)
#define LIBRARY_NAME "/usr/local/lib/python315.zip"
/* What a run begins with (guest/data/run.py). */
#define LINE "__import__('_redoma').go()"
#define SETUP_MEMORY ((uint64_t)1 << 30)

/* Of this process and its one child. */
struct maker {
	struct engine *engine;
	struct wasi *wasi;
	uint64_t memory_bytes; /* of the image */
};

static void step(enum compile_step s)
{
	uint8_t byte = (uint8_t)s;

	/* Who started us may not want to know. */
	(void)!write(COMPILE_STEPS, &byte, 1);
}

static int check_digest(const struct buf *b, const char *want, const char *what,
			struct redoma_error *err)
{
	uint8_t digest[HASH_BYTES];
	char hex[HASH_HEX_MAX];

	hash_sha256(b->data, b->len, digest);
	if (!strcmp(hash_hex(digest, sizeof digest, hex), want))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s is not the one that this release knows (sha256 "
		       "%.16s..., wanted %.16s...)",
		       what, hex, want);
}

static int read_module(struct buf *ret, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf library = {0};
	int rc;

	step(COMPILE_STEP_CHECK);
	rc = fd_read_all(COMPILE_IN, COMPILE_DATA_INPUT, "the module", ret,
			 err);
	if (!rc)
		rc = check_digest(ret, PIN_MODULE_SHA256, "the module", err);
	if (!rc)
		rc = fd_read_all(COMPILE_LIBRARY, COMPILE_DATA_INPUT,
				 "the library", &library, err);
	if (!rc)
		rc = check_digest(&library, PIN_LIBRARY_SHA256, "the library",
				  err);
	return rc;
}

/* Its own Python, told where the mailbox is. */
static int read_program(uint32_t mail, struct buf *ret,
			struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf text = {0};
	int rc = fd_read_all(COMPILE_PROGRAM, PROGRAM_MAX, "images/data.py",
			     &text, err);

	if (!rc && (buf_addf(ret, "MAIL = %u\n", mail) ||
		    buf_add(ret, text.data, text.len)))
		rc = err_nomem(err, WHERE);
	return rc;
}

/* What the set-up says of an error is said by its last line. */
struct heard {
	char text[160];
	size_t len;
};

static int hear(void *data, int stream, const void *p, size_t n)
{
	struct heard *h = data;
	const char *s = p;

	(void)stream;
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n' && i + 1 < n)
			h->len = 0;
		else if (s[i] != '\n' && h->len + 1 < sizeof h->text)
			h->text[h->len++] = s[i];
	}
	h->text[h->len] = 0;
	return 0;
}

static void set_plan(struct plan *ret, struct plan_grant *library)
{
	static char *argv[] = {(char *)"python", NULL};
	static char *env[] = {(char *)"TMPDIR=/tmp", (char *)"PYTHONTZPATH=",
			      NULL};

	*library = (struct plan_grant){.kind = GRANT_READ_FILE,
				       .guest = (char *)LIBRARY_NAME,
				       .fd = COMPILE_LIBRARY,
				       .max_bytes = UINT64_MAX,
				       .last = UINT64_MAX,
				       .opens = UINT64_MAX};
	/* Nothing of this machine may enter the image. */
	*ret = (struct plan){.limits = {.wall_us = 1,
					.cpu_us = 1,
					.memory_bytes = SETUP_MEMORY,
					.output_bytes = 1 << 20,
					.files = 16},
			     .clock = SOURCE_FIXED,
			     .random = SOURCE_FIXED,
			     .argv = argv,
			     .env = env,
			     .grants = library,
			     .n_grants = 1};
}

static int run_setup(struct exec *x, struct str program, struct heard *heard,
		     struct redoma_error *err)
{
	struct exec_limits l = {SETUP_MEMORY, 0};
	struct exec_outcome out;
	int32_t status = 0;
	int rc = exec_begin(x, &l, &out, err);

	if (!rc && out.end == EXEC_DONE)
		rc = setup_run(x, program, &status, &out, err);
	if (rc)
		return rc;
	if (out.end == EXEC_DONE && !status)
		return 0;
	return err_set(err, REDOMA_E_WORKER, WHERE,
		       "the image cannot be set up: %s %s",
		       out.end == EXEC_DONE ? "" : out.text, heard->text);
}

/* The module as the set-up left it. */
static int set_up(struct maker *m, struct str wasm, uint32_t mail,
		  const struct buf *quick, struct buf *ret,
		  struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf program = {0};
	struct heard heard = {0};
	struct wasi_host host = {.data = &heard, .write = hear};
	struct plan_grant library;
	struct plan plan;
	struct exec *x = NULL;
	const void *memory;
	size_t size;
	int rc = read_program(mail, &program, err);

	set_plan(&plan, &library);
	if (!rc)
		rc = module_load_bytes(m->engine, quick->data, quick->len,
				       err);
	if (!rc)
		rc = module_link(m->engine, m->wasi, err);
	if (!rc)
		rc = exec_new(m->engine, NULL, &x, err);
	if (!rc)
		rc = wasi_begin(m->wasi, &plan, &host, NULL, 0, err);
	if (!rc)
		rc = run_setup(x, (struct str){program.data, program.len},
			       &heard, err);
	if (rc)
		return rc;
	/* The instance ends with this process. */
	memory = exec_memory(x, &size);
	m->memory_bytes = size;
	return emit_module(wasm, memory, size, ret, err);
}

static int make_module(struct maker *m, struct buf *ret, uint64_t *ret_memory,
		       struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf raw = {0};
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf quick = {0};
	struct str dressed;
	uint32_t mail = 0;
	int rc = read_module(&raw, err);

	if (!rc)
		rc = dress_module((struct str){raw.data, raw.len}, STR(LINE),
				  &wasm, &mail, err);
	buf_done(&raw);
	raw = (struct buf){0};
	if (rc)
		return rc;
	dressed = (struct str){wasm.data, wasm.len};
	step(COMPILE_STEP_QUICK);
	rc = compile_known(PROFILE_IMAGE_EPOCH, true, dressed, &quick, err);
	if (rc)
		return rc;
	step(COMPILE_STEP_SETUP);
	rc = set_up(m, dressed, mail, &quick, ret, err);
	*ret_memory = m->memory_bytes;
	return rc;
}

static int make(const struct serve_work *w, struct compile_report *r,
		struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};
	int rc = make_module(w->data, &wasm, &r->memory_bytes, err);

	if (rc)
		return rc;
	step(COMPILE_STEP_GOOD);
	rc = compile_known(w->profile, false,
			   (struct str){wasm.data, wasm.len}, &artefact, err);
	if (rc)
		return rc;
	step(COMPILE_STEP_WRITE);
	if (fd_write_all(COMPILE_OUT, artefact.data, artefact.len))
		return err_sys(err, WHERE, "write the compiled image");
	return 0;
}

int data_image(uint32_t may_lack)
{
	int keep[] = {COMPILE_IN, COMPILE_OUT, COMPILE_REPORT, COMPILE_LIBRARY,
		      COMPILE_PROGRAM, COMPILE_STEPS, -1};
	struct maker m = {0};
	struct serve_work w = {
		.profile = PROFILE_IMAGE_EPOCH,
		.may_lack = may_lack,
		.filter = JAIL_FILTER_LOADING,
		.seconds = COMPILE_DATA_SECONDS,
		.memory_bytes = COMPILE_DATA_MEMORY,
		.file_bytes = COMPILE_DATA_ARTEFACT,
		.keep = keep,
		.n_keep = 6,
		.what = "making the image",
		.remedy = "run it again while the machine is less busy",
		.work = make,
		.data = &m,
	};
	struct redoma_error err = {0};
	int pagemap;

	/* While /proc is there. */
	if (engine_new(PROFILE_IMAGE_EPOCH, &m.engine, &err) ||
	    wasi_new(NULL, &m.wasi, &err))
		return serve_failed(&err);
	pagemap = engine_pagemap_fd(m.engine);
	if (pagemap > COMPILE_STEPS)
		keep[w.n_keep++] = pagemap;
	return serve_jailed(&w);
}

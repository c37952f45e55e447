#include "compiler/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "engine/compile.h"

#define WHERE "compiler"

static int write_file(const char *path, const struct buf *b,
		      struct redoma_error *err)
{
	CLEANUP_FREE char *temp = NULL;
	CLEANUP_FD int fd = -1;

	if (asprintf(&temp, "%s.tmp-%d", path, getpid()) < 0) {
		temp = NULL;
		return err_nomem(err, WHERE);
	}
	fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, WHERE, "create %s", temp);
	if (fd_write_all(fd, b->data, b->len) || rename(temp, path)) {
		int rc = err_sys(err, WHERE, "write %s", path);

		unlink(temp);
		return rc;
	}
	return 0;
}

int image_compile(const struct image_job *j, struct redoma_error *err)
{
	CLEANUP(buf_done) struct buf wasm = {0};
	CLEANUP(buf_done) struct buf artefact = {0};
	CLEANUP_FD int fd = open(j->in, O_RDONLY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_sys(err, WHERE, "open %s", j->in);
	rc = fd_read_all(fd, COMPILE_INPUT_MAX, j->in, &wasm, err);
	if (!rc)
		rc = compile_for_cpu(j->profile, j->cpu,
				     (struct str){wasm.data, wasm.len},
				     &artefact, err);
	return rc ? rc : write_file(j->out, &artefact, err);
}

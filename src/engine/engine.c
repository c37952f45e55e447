#include "engine/engine.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <redoma_engine.h>

#include "base/cleanup.h"
#include "engine/config.h"
#include "engine/state.h"

#define WHERE "engine"

const char *engine_version(void)
{
	return "wasmtime " WASMTIME_VERSION;
}

/* Of proc_swaps(5): a header and a line for each swap area.  If it cannot be
 * read there may be swap. */
static bool swap_is_off(const char *path)
{
	char text[512];
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	const char *line = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;

	return line && line + 1 == text + n;
}

static int reserve_stack(struct redoma_error *err)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_STACK, &l))
		return err_sys(err, WHERE, "read the stack limit");
	if (l.rlim_cur == RLIM_INFINITY || l.rlim_cur >= ENGINE_STACK_LIMIT)
		return 0;
	if (l.rlim_max != RLIM_INFINITY && l.rlim_max < ENGINE_STACK_LIMIT)
		return err_set(err, REDOMA_E_UNSUPPORTED, WHERE,
			       "the hard stack limit is %llu KiB and guests "
			       "need %llu; raise it (ulimit -Hs)",
			       (unsigned long long)l.rlim_max >> 10,
			       (unsigned long long)ENGINE_STACK_LIMIT >> 10);
	l.rlim_cur = ENGINE_STACK_LIMIT;
	if (setrlimit(RLIMIT_STACK, &l))
		return err_sys(err, WHERE, "raise the stack limit");
	return 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Wasmtime opens it once a process and tells nobody. */
static int find_pagemap(void)
{
	CLEANUP(close_dir) DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	char target[64];

	while (d && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target,
				       sizeof(target) - 1);

		if (n <= 0)
			continue;
		target[n] = 0;
		if (!strncmp(target, "/proc/", 6) &&
		    !strcmp(target + n - (n < 8 ? 0 : 8), "/pagemap"))
			return atoi(e->d_name);
	}
	return -1;
}

int engine_new_with(enum profile profile, const char *swaps,
		    struct engine **ret, struct redoma_error *err)
{
	struct config_choice how = {.profile = profile};
	struct engine *e;
	int rc;

	if (profile >= PROFILES)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no such profile: %d", (int)profile);
	rc = reserve_stack(err);
	if (rc)
		return rc;
	e = calloc(1, sizeof(*e));
	if (!e)
		return err_nomem(err, WHERE);
	how.scan = rd_pagemap_available() && swap_is_off(swaps);
	e->profile = profile;
	e->fast_reset = how.scan;
	e->wasm = config_engine(&config_pool, &how);
	e->pagemap_fd = find_pagemap();
	*ret = e;
	return 0;
}

int engine_new(enum profile profile, struct engine **ret,
	       struct redoma_error *err)
{
	return engine_new_with(profile, "/proc/swaps", ret, err);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	if (e->pre)
		wasmtime_instance_pre_delete(e->pre);
	if (e->linker)
		wasmtime_linker_delete(e->linker);
	if (e->module)
		wasmtime_module_delete(e->module);
	if (e->wasm)
		wasm_engine_delete(e->wasm);
	free(e);
}

void engine_interrupt(struct engine *e)
{
	wasmtime_engine_increment_epoch(e->wasm);
}

bool engine_fast_reset(const struct engine *e)
{
	return e->fast_reset;
}

int engine_pagemap_fd(const struct engine *e)
{
	return e->pagemap_fd;
}

void engine_error_text(wasmtime_error_t *e, char *text, size_t size)
{
	wasm_byte_vec_t m;
	size_t at = 0;

	wasmtime_error_message(e, &m);
	wasmtime_error_delete(e);
	for (size_t i = 0; i < m.size && at + 1 < size; i++) {
		unsigned char ch = (unsigned char)m.data[i];

		if (ch == '\n' || ch == ' ' || iscntrl(ch)) {
			if (at && text[at - 1] != ' ')
				text[at++] = ' ';
			continue;
		}
		text[at++] = (char)ch;
	}
	while (at && text[at - 1] == ' ')
		at--;
	text[at] = 0;
	wasm_byte_vec_delete(&m);
}

int engine_error(struct redoma_error *err, enum redoma_code code,
		 const char *what, wasmtime_error_t *e)
{
	char text[200];

	engine_error_text(e, text, sizeof(text));
	return err_set(err, code, WHERE, "%s: %s", what, text);
}

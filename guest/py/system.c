/* The host while the image is made: there is none.
 *
 * The linker sends the library's calls here (--wrap).  Before system_start
 * nothing leaves the module, so nothing of the machine that builds an image
 * can enter it: clocks stand at zero, there is no randomness, no environment,
 * no file but three descriptors that can be asked for their kind.  What was
 * drawn of randomness by then is drawn anew by the prelude. */
#include <string.h>
#include <wasi/api.h>
#include "guest.h"

void __wasilibc_reset_preopens(void); /* libc's, in no header */

#define REAL(name) __real___wasi_##name
#define WRAP(name) __wrap___wasi_##name
#define HOOK(name, ...)                                 \
	__wasi_errno_t REAL(name)(__VA_ARGS__);         \
	__wasi_errno_t WRAP(name)(__VA_ARGS__)

static bool live;

void system_start(void)
{
	/* Asked for again, by the first run that uses them. */
	__wasilibc_reset_preopens();
	live = true;
}

HOOK(environ_sizes_get, __wasi_size_t *n, __wasi_size_t *bytes)
{
	if (live)
		return REAL(environ_sizes_get)(n, bytes);
	*n = *bytes = 0;
	return 0;
}

HOOK(clock_res_get, __wasi_clockid_t id, __wasi_timestamp_t *ret)
{
	(void)id;
	/* Known without asking; a run that only asks this is still pure. */
	*ret = 1;
	return 0;
}

HOOK(clock_time_get, __wasi_clockid_t id, __wasi_timestamp_t precision,
     __wasi_timestamp_t *ret)
{
	if (live)
		return REAL(clock_time_get)(id, precision, ret);
	*ret = 0;
	return 0;
}

HOOK(random_get, uint8_t *p, __wasi_size_t n)
{
	if (live)
		return REAL(random_get)(p, n);
	memset(p, 0, n);
	return 0;
}

HOOK(fd_prestat_get, __wasi_fd_t fd, __wasi_prestat_t *ret)
{
	return live ? REAL(fd_prestat_get)(fd, ret) : __WASI_ERRNO_BADF;
}

HOOK(fd_fdstat_get, __wasi_fd_t fd, __wasi_fdstat_t *ret)
{
	if (live)
		return REAL(fd_fdstat_get)(fd, ret);
	if (fd > 2)
		return __WASI_ERRNO_BADF;
	memset(ret, 0, sizeof(*ret));
	ret->fs_filetype = __WASI_FILETYPE_CHARACTER_DEVICE;
	/* With the right to seek, so that libc takes it for no terminal. */
	ret->fs_rights_base = UINT64_MAX;
	return 0;
}

HOOK(fd_filestat_get, __wasi_fd_t fd, __wasi_filestat_t *ret)
{
	if (live)
		return REAL(fd_filestat_get)(fd, ret);
	if (fd > 2)
		return __WASI_ERRNO_BADF;
	memset(ret, 0, sizeof(*ret));
	ret->filetype = __WASI_FILETYPE_CHARACTER_DEVICE;
	return 0;
}

HOOK(fd_seek, __wasi_fd_t fd, __wasi_filedelta_t offset,
     __wasi_whence_t whence, __wasi_filesize_t *ret)
{
	return live ? REAL(fd_seek)(fd, offset, whence, ret)
		    : __WASI_ERRNO_SPIPE;
}

HOOK(fd_tell, __wasi_fd_t fd, __wasi_filesize_t *ret)
{
	return live ? REAL(fd_tell)(fd, ret) : __WASI_ERRNO_SPIPE;
}

HOOK(poll_oneoff, const __wasi_subscription_t *in, __wasi_event_t *out,
     __wasi_size_t n, __wasi_size_t *ret)
{
	return live ? REAL(poll_oneoff)(in, out, n, ret)
		    : __WASI_ERRNO_NOSYS;
}

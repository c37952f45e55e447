/* A ruleset without rules denies everything that it handles.  What the kernel
 * can handle is found by asking for it, not from the ABI number: vendor
 * kernels have claimed numbers without all their bits. */
#include "jail/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/kernel.h"

#define ABI_MIN 2
#define FS_BITS_MIN 14 /* ABI 2 */

static int create(const struct kernel_ruleset *r)
{
	return (int)syscall(SYS_landlock_create_ruleset, r, sizeof *r, 0);
}

/* Sets *word to all the low bits that the kernel takes in it. */
static int widen(struct kernel_ruleset *r, uint64_t *word)
{
	for (int bit = 0; bit < 64; bit++) {
		CLEANUP_FD int fd = -1;

		*word |= 1ull << bit;
		fd = create(r);
		if (fd >= 0)
			continue;
		*word &= ~(1ull << bit);
		return errno == EINVAL || errno == E2BIG ? 0 : -1;
	}
	return 0;
}

const char *landlock_find(struct kernel_ruleset *ret, int *ret_abi)
{
	struct kernel_ruleset r = {0};
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return "ask for the Landlock ABI";
	if (widen(&r, &r.fs) || widen(&r, &r.net) || widen(&r, &r.scoped))
		return "ask what Landlock handles";
	if (abi < ABI_MIN || r.fs >> (FS_BITS_MIN - 1) == 0) {
		errno = EOPNOTSUPP;
		return "find Landlock ABI 2 or newer";
	}
	*ret = r;
	*ret_abi = (int)abi;
	return NULL;
}

const char *landlock_make(int *ret_fd, int *ret_abi)
{
	struct kernel_ruleset r;
	const char *what = landlock_find(&r, ret_abi);
	int fd;

	if (what)
		return what;
	fd = create(&r);
	if (fd < 0)
		return "make the Landlock ruleset";
	*ret_fd = fd;
	return NULL;
}

const char *landlock_restrict(int ruleset_fd)
{
	return syscall(SYS_landlock_restrict_self, ruleset_fd, 0)
		       ? "apply the Landlock ruleset"
		       : NULL;
}

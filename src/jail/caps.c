#include "jail/steps.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "jail/kernel.h"

#define CAPS_MAX 64
/* A capability is never gained by being or becoming user 0, nor kept over a
 * change of user; none of it can be undone. */
#define BITS                                                                 \
	((SECURE_ALL_BITS & ~issecure_mask(SECURE_KEEP_CAPS)) |              \
	 SECURE_ALL_LOCKS)

static int set_caps(uint32_t low)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct d[2] = {
		{.effective = low, .permitted = low, .inheritable = 0}};
	struct __user_cap_data_struct is[2] = {{~0u, ~0u, ~0u},
					       {~0u, ~0u, ~0u}};

	if (syscall(SYS_capset, &h, d) || syscall(SYS_capget, &h, is))
		return -1;
	errno = EPERM;
	return is[0].effective == low && is[0].permitted == low &&
			       !is[0].inheritable && !is[1].effective &&
			       !is[1].permitted && !is[1].inheritable
		       ? 0
		       : -1;
}

/* 0, 1; -1 with EINVAL past the last capability. */
static int is_bounded_by(int c)
{
	return prctl(PR_CAPBSET_READ, c, 0, 0, 0);
}

/* Without the right to drop any: all must be gone already. */
static const char *verify_bounding(void)
{
	int has = 0, c = 0;

	while (c < CAPS_MAX && !(has = is_bounded_by(c)))
		c++;
	if (!has || (has < 0 && errno == EINVAL && c > CAP_SYS_ADMIN))
		return NULL;
	errno = has < 0 ? errno : EPERM;
	return "drop the capability bounding set";
}

static const char *drop_bounding(void)
{
	for (int c = 0; c < CAPS_MAX; c++) {
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0)) {
			if (errno == EINVAL && c > CAP_SYS_ADMIN)
				return NULL; /* past the last one */
			return c || errno != EPERM
				       ? "drop the capability bounding set"
				       : verify_bounding();
		}
		if (is_bounded_by(c))
			return "verify the capability bounding set";
	}
	return NULL;
}

const char *caps_shrink(void)
{
	return caps_keep(1u << CAP_SYS_ADMIN);
}

const char *caps_keep(uint32_t low)
{
	const char *what;
	int bits;

	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return "clear the ambient capabilities";
	what = drop_bounding();
	if (what)
		return what;
	bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
	if (bits < 0)
		return "read the securebits";
	/* Once is enough, and takes a capability that is gone then. */
	if (bits != BITS && prctl(PR_SET_SECUREBITS, BITS, 0, 0, 0))
		return "lock the securebits";
	return set_caps(low) ? "shrink the capabilities" : NULL;
}

const char *caps_drop(void)
{
	int bits;

	if (set_caps(0))
		return "drop all capabilities";
	bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
	if (bits == BITS)
		return NULL;
	errno = bits < 0 ? errno : EPERM;
	return "verify the securebits";
}

const char *caps_forbid_new(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return "set no_new_privs";
	return caps_no_new_verify();
}

const char *caps_no_new_verify(void)
{
	int on = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);

	if (on == 1)
		return NULL;
	errno = on < 0 ? errno : EPERM;
	return "verify no_new_privs";
}

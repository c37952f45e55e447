/* The lock on a payload, between fork and exec. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/native_state.h"

#define BIT(c) (1u << (c))
#define LASTING 4 /* descriptors that the program itself gets */

/* Number i becomes i.  They are ascending, so none is overwritten before it
 * was moved. */
static const char *place_kept(const struct native_payload *p)
{
	for (size_t i = 0; i < p->n_keep; i++) {
		int to = (int)i, from = p->keep[i];

		errno = EINVAL;
		if (from < to || (i && from <= p->keep[i - 1]))
			return "order the descriptors to keep";
		if (from != to &&
		    dup3(from, to, i < LASTING ? 0 : O_CLOEXEC) != to)
			return "place the descriptors of a program";
		if (from == to &&
		    fcntl(to, F_SETFD, i < LASTING ? 0 : FD_CLOEXEC))
			return "place the descriptors of a program";
	}
	return NULL;
}

static const char *place_gate(const struct native_payload *p)
{
	int to = (int)p->n_keep;

	errno = EINVAL;
	if (p->n_keep < 3 || p->gate_fd <= p->keep[to - 1] ||
	    p->gate_fd == to || dup3(p->gate_fd, to, O_CLOEXEC) != to)
		return "place the gate of a program";
	return NULL;
}

static const char *place_fds(const struct native_payload *p, int inert_fd)
{
	unsigned n = (unsigned)p->n_keep;
	const char *what = place_kept(p);

	if (!what && p->gate_fd) {
		what = place_gate(p);
		n++;
	}
	for (; !what && n < 3; n++)
		if (dup3(inert_fd, (int)n, 0) != (int)n)
			what = "replace standard input, output and error";
	if (what)
		return what;
	return close_range(n, UINT_MAX, 0) ? "close descriptors" : NULL;
}

const char *native_payload(const struct native *n,
			   const struct native_payload *p)
{
	bool landlock = !(n->j.lacks & BIT(JAIL_LANDLOCK));
	CLEANUP_FD int rules = -1;
	const char *what = session_leave();

	if (!what && landlock)
		what = rules_make(n, p, &rules);
	if (!what)
		what = rlimit_native(n, p);
	if (!what && !(n->j.lacks & BIT(JAIL_CAPS)))
		what = caps_drop();
	if (!what && !(n->j.lacks & BIT(JAIL_NNP)))
		what = caps_no_new_verify();
	if (!what && landlock)
		what = landlock_restrict(rules);
	if (!what) {
		/* Its number may be one that is needed. */
		if (rules >= 0)
			close(rules);
		rules = -1;
		what = place_fds(p, n->j.inert_fd);
	}
	if (!what && !(n->j.lacks & BIT(JAIL_SECCOMP)))
		what = seccomp_install(JAIL_FILTER_NATIVE);
	return what;
}

#include "jail/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "jail/steps.h"

#define BIT(c) (1u << (c))
#define NAMESPACES                                                           \
	(BIT(JAIL_MOUNT) | BIT(JAIL_NET) | BIT(JAIL_IPC) | BIT(JAIL_UTS) |   \
	 BIT(JAIL_CGROUPNS))

#define ALWAYS JAIL_ALWAYS

int jail_refuse(enum jail_control c, const char *what,
		struct redoma_error *err)
{
	int sys = errno;
	size_t n;

	(void)err_sys(err, "jail", "%s", what);
	if (!err)
		return REDOMA_E_UNSUPPORTED;
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, "; %s",
		 jail_remedy(c, sys));
	err->code = REDOMA_E_UNSUPPORTED;
	return REDOMA_E_UNSUPPORTED;
}

int jail_judge(struct jail *j, int control, const char *what,
	       struct redoma_error *err)
{
	int sys = errno;

	if (!what)
		return 0;
	if (control < JAIL_CONTROLS) {
		j->lacks |= BIT(control);
		j->sys[control] = sys;
		if (j->may_lack & BIT(control))
			return 0;
	}
	if (control == ALWAYS)
		return err_sys(err, "jail", "%s", what);
	return jail_refuse((enum jail_control)control, what, err);
}

void jail_tell(const struct jail *j, uint32_t done, struct jail_report *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->landlock_abi = j->landlock_abi;
	for (int c = 0; c < JAIL_CONTROLS; c++) {
		ret->state[c] = JAIL_NOT_REQUESTED;
		if (done & BIT(c))
			ret->state[c] = j->lacks & BIT(c) ? JAIL_UNAVAILABLE
							  : JAIL_ENFORCED;
		ret->sys[c] = j->sys[c];
	}
}

static int enter_user(struct jail *j, struct redoma_error *err)
{
	const char *what = idmap_drop(j->may_lack & BIT(JAIL_USER));

	/* Root that cannot become somebody else: whatever may lack. */
	if (what)
		return jail_refuse(JAIL_USER, what, err);
	return jail_judge(j, JAIL_USER, idmap_enter(), err);
}

/* All at once, or one by one to learn which of them is lacking. */
static int enter_namespaces(struct jail *j, struct redoma_error *err)
{
	int rc = 0;

	if (!ns_enter(NAMESPACES))
		return 0;
	for (int c = 0; c < JAIL_CONTROLS && !rc; c++)
		if (NAMESPACES & BIT(c))
			rc = jail_judge(j, c, ns_enter(BIT(c)), err);
	return rc;
}

static const char *open_proc(struct jail *j)
{
	if (!(j->lacks & BIT(JAIL_MOUNT)))
		return mount_copy_proc(&j->proc_fd);
	j->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return j->proc_fd < 0 ? "open /proc" : NULL;
}

static int enter_root(struct jail *j, struct redoma_error *err)
{
	int rc = jail_judge(j, JAIL_MOUNT, open_proc(j), err);

	if (!rc && j->proc_fd < 0)
		rc = jail_judge(j, ALWAYS, open_proc(j), err);
	if (!rc)
		rc = jail_judge(j, ALWAYS,
				fds_inert(j->proc_fd, &j->inert_fd), err);
	if (!rc && !(j->lacks & BIT(JAIL_MOUNT)))
		rc = jail_judge(j, JAIL_MOUNT, mount_empty_root(), err);
	return rc;
}

static const char *open_self(struct jail *j)
{
	j->self_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return j->self_fd < 0 ? "open a pidfd of the zygote" : NULL;
}

static const char *hide(void)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
			       prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0
		       ? "make the zygote non-dumpable"
		       : NULL;
}

static int give_up(struct jail *j, struct redoma_error *err)
{
	int rc = jail_judge(j, ALWAYS, session_keyring(), err);

	if (!rc)
		rc = jail_judge(
			j, JAIL_LANDLOCK,
			landlock_make(&j->ruleset_fd, &j->landlock_abi), err);
	if (!rc)
		rc = jail_judge(j, JAIL_CAPS, caps_shrink(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_NNP, caps_forbid_new(), err);
	if (!rc)
		rc = jail_judge(j, JAIL_SECCOMP, seccomp_check(), err);
	return rc ? rc : jail_judge(j, ALWAYS, hide(), err);
}

int jail_build(struct jail *j, const struct jail_options *o,
	       struct jail_report *report, struct redoma_error *err)
{
	int rc;

	j->may_lack = o->may_lack;
	rc = jail_judge(j, ALWAYS, open_self(j), err);
	if (!rc)
		rc = enter_user(j, err);
	if (!rc)
		rc = enter_namespaces(j, err);
	if (!rc)
		rc = enter_root(j, err);
	if (!rc && !(j->lacks & BIT(JAIL_UTS)))
		rc = jail_judge(j, JAIL_UTS, ns_hostname(), err);
	if (!rc)
		rc = give_up(j, err);
	if (!rc && report)
		jail_tell(j,
			    NAMESPACES | BIT(JAIL_USER) | BIT(JAIL_CAPS) |
				    BIT(JAIL_NNP) | BIT(JAIL_LANDLOCK),
			    report);
	return rc;
}

int jail_prepare(const struct jail_options *o, struct jail **ret,
		 struct jail_report *report, struct redoma_error *err)
{
	struct jail *j = malloc(sizeof *j);
	int rc;

	if (!j)
		return err_nomem(err, "jail");
	*j = JAIL_CLOSED;
	rc = jail_build(j, o, report, err);
	if (rc)
		jail_free(j);
	else
		*ret = j;
	return rc;
}

static int restrict_self(struct jail *j, struct redoma_error *err)
{
	int rc = jail_judge(j, JAIL_CAPS, caps_drop(), err);

	if (!rc)
		rc = jail_judge(j, JAIL_NNP, caps_no_new_verify(), err);
	if (!rc && j->ruleset_fd >= 0)
		rc = jail_judge(j, JAIL_LANDLOCK,
				landlock_restrict(j->ruleset_fd), err);
	return rc ? rc : jail_judge(j, ALWAYS, session_tied(), err);
}

int jail_lock(const struct jail *shared, const struct jail_options *o,
	      struct jail_report *report, struct redoma_error *err)
{
	struct jail j = *shared;
	int rc = jail_judge(&j, ALWAYS, session_tie(j.self_fd), err);

	j.may_lack = o->may_lack;
	errno = EPERM;
	if (!rc)
		rc = jail_judge(&j, JAIL_PID,
			   getpid() == 1 ? NULL : "be pid 1 of a pid namespace",
			   err);
	if (!rc)
		rc = jail_judge(&j, ALWAYS, session_leave(), err);
	if (!rc)
		rc = jail_judge(&j, JAIL_RLIMITS, rlimit_apply(o), err);
	if (!rc)
		rc = restrict_self(&j, err);
	if (!rc)
		rc = jail_judge(&j, ALWAYS,
			   fds_close(o->keep, o->n_keep, j.inert_fd), err);
	if (!rc)
		rc = jail_judge(&j, JAIL_SECCOMP, seccomp_install(o->filter),
				err);
	if (!rc && report)
		jail_tell(&j, ~BIT(JAIL_CGROUP), report);
	return rc;
}

int jail_seal(struct redoma_error *err)
{
	const char *what = seccomp_install(JAIL_FILTER_WORKER);

	return what ? err_sys(err, "jail", "%s", what) : 0;
}

int jail_proc_fd(const struct jail *j)
{
	return j->proc_fd;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void jail_close(struct jail *j)
{
	shut(&j->proc_fd);
	shut(&j->ruleset_fd);
	shut(&j->self_fd);
	shut(&j->inert_fd);
}

void jail_free(struct jail *j)
{
	if (!j)
		return;
	jail_close(j);
	free(j);
}

#include "jail/steps.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "jail/kernel.h"
#include "jail/gen_seccomp_compiler.h"
#include "jail/gen_seccomp_init.h"
#include "jail/gen_seccomp_loading.h"
#include "jail/gen_seccomp_native.h"
#include "jail/gen_seccomp_worker.h"

#define PROGRAM(name)                                                        \
	{seccomp_##name, sizeof seccomp_##name / sizeof *seccomp_##name,     \
	 SECCOMP_##name##_ARCH}

static const struct program {
	const struct sock_filter *code;
	size_t len;
	uint32_t arch;
} programs[JAIL_FILTERS] = {
	[JAIL_FILTER_WORKER] = PROGRAM(worker),
	[JAIL_FILTER_LOADING] = PROGRAM(loading),
	[JAIL_FILTER_COMPILER] = PROGRAM(compiler),
	[JAIL_FILTER_NATIVE] = PROGRAM(native),
	[JAIL_FILTER_INIT] = PROGRAM(init),
};

const char *seccomp_check(void)
{
	struct utsname u;

	for (int f = 0; f < JAIL_FILTERS; f++) {
		if (programs[f].len && programs[f].len <= BPF_MAXINSNS &&
		    programs[f].arch == KERNEL_ARCH)
			continue;
		errno = ENOEXEC;
		return "check the built-in system call filters";
	}
	if (uname(&u))
		return "ask for the machine's architecture";
	if (!strcmp(u.machine, KERNEL_MACHINE))
		return NULL;
	errno = ENOEXEC;
	return "match the system call filters with the machine";
}

const char *seccomp_install(enum jail_filter f)
{
	struct sock_fprog p = {0};

	if (f < JAIL_FILTERS) {
		p.len = (unsigned short)programs[f].len;
		p.filter = (struct sock_filter *)programs[f].code;
	}
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p)
		       ? "install the system call filter"
		       : NULL;
}

#include "base/reap.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t to_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

bool reap_any(siginfo_t *ret, struct reaped *ret_used)
{
	struct rusage u = {0};

	*ret = (siginfo_t){0};
	/* libc's waitid keeps the last argument to itself. */
	if (syscall(SYS_waitid, P_ALL, 0, ret, WEXITED | WNOHANG, &u) < 0 ||
	    !ret->si_pid)
		return false;
	*ret_used = (struct reaped){
		.cpu_us = to_us(u.ru_utime) + to_us(u.ru_stime),
		.memory_bytes = (uint64_t)u.ru_maxrss << 10,
		.page_faults = (uint64_t)u.ru_minflt,
	};
	return true;
}

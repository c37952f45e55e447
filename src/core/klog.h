/* core/klog.h - which system call ended a process, as the kernel's log has it.
 *
 * seccomp(2) with SECCOMP_RET_KILL_PROCESS tells its number nowhere else: the
 * parent learns the signal alone.  The record is that of audit, type 1326
 * (AUDIT_SECCOMP), in /dev/kmsg (Documentation/ABI/testing/dev-kmsg).  Pids
 * come again, and of an ordinary user all processes have one uid: so the time
 * counts as well. */
#ifndef CORE_KLOG_H
#define CORE_KLOG_H

#include <stdbool.h>
#include <stdint.h>

struct klog_who {
	int64_t pid, uid; /* as the first namespaces see them; -1: any */
	uint64_t from_ms, to_ms; /* of the real-time clock, both within */
	bool alone; /* pid or uid is that of no other process at that time; else
		       records that contradict each other tell nothing */
};

/* -1: not to be read, not there (the kernel limits the rate of its log, or an
 * audit daemon takes it), or its pids and uids are those of other namespaces.
 * Waits up to 100 ms for a record, which the kernel writes a little later. */
int klog_syscall(const struct klog_who *w);
/* The number in one record's text if it is of that process, else -1. */
int klog_match(const char *record, const struct klog_who *w);

#endif

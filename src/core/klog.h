/* core/klog.h - which system call ended a process, as the kernel's log has it.
 *
 * seccomp(2) with SECCOMP_RET_KILL_PROCESS tells its number nowhere else: the
 * parent learns the signal alone.  The record is that of audit, type 1326
 * (AUDIT_SECCOMP), in /dev/kmsg (Documentation/ABI/testing/dev-kmsg). */
#ifndef CORE_KLOG_H
#define CORE_KLOG_H

/* -1: not to be read, not there (the kernel limits the rate of its log), or
 * pid is that of another pid namespace. */
int klog_syscall(int pid);
/* The number in one record's text if it is of that process, else -1. */
int klog_match(const char *record, int pid);

#endif

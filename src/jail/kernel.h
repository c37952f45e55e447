/* jail/kernel.h - numbers of the kernel's interface that the C library's or
 * the kernel's own installed headers may lack. */
#ifndef JAIL_KERNEL_H
#define JAIL_KERNEL_H

#include <linux/audit.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>

/* linux/landlock.h, struct landlock_ruleset_attr as of ABI 6.  Older kernels
 * take the longer struct as long as what they do not know is zero. */
struct kernel_ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

#define KERNEL_LANDLOCK_TRUNCATE (1ULL << 14) /* ABI 3 */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

/* linux/fs.h, Linux 6.7: _IOWR('f', 16, struct pm_scan_arg) */
#define KERNEL_PAGEMAP_SCAN 0xc0606610U

/* The audit architecture that this code is compiled for. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define KERNEL_ARCH AUDIT_ARCH_X86_64
#define KERNEL_MACHINE "x86_64"
#else
#error "the system call tables are written and tested for x86-64"
#endif

#endif

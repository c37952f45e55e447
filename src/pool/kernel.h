/* pool/kernel.h - constants of clone3(2) that older C libraries lack. */
#ifndef POOL_KERNEL_H
#define POOL_KERNEL_H

#include <sched.h>

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000ULL
#endif

#endif

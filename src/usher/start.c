#include "usher/start.h"

#include <sched.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "broker/ask.h"

#define WHERE "usher"
#define CAP_VERSION 0x20080522u /* _LINUX_CAPABILITY_VERSION_3, capget(2) */

/* capset(2): effective, permitted, inheritable; low words, then high ones. */
static int keep_caps(const struct ask_rights *most)
{
	uint32_t header[2] = {CAP_VERSION, 0};
	uint32_t caps[2][3], more = 0;

	if (syscall(SYS_capget, header, caps))
		return -1;
	for (int i = 0; i < 2; i++) {
		more |= caps[i][1] & ~most->caps[i];
		caps[i][1] &= most->caps[i];
		caps[i][0] &= most->caps[i];
		caps[i][2] &= most->caps[i];
	}
	return !more ? 0 : (int)syscall(SYS_capset, header, caps);
}

static bool keep_fs_ids(const struct ask_rights *most)
{
	setfsgid(most->fsgid);
	setfsuid(most->fsuid);
	return (uint32_t)setfsgid((gid_t)-1) == most->fsgid &&
	       (uint32_t)setfsuid((uid_t)-1) == most->fsuid;
}

int start_up(struct board **ret, struct redoma_error *err)
{
	struct board *b = mmap(NULL, sizeof *b + sizeof(struct ask_rights),
			       PROT_READ | PROT_WRITE, MAP_SHARED,
			       ASK_BOARD_FD, 0);
	struct ask_rights most;

	if (b == MAP_FAILED)
		return err_sys(err, WHERE, "map the board");
	close(ASK_BOARD_FD);
	memcpy(&most, b + 1, sizeof most);
	if (!keep_fs_ids(&most) || keep_caps(&most))
		return err_sys(err, WHERE, "take the rights of the core");
	/* Who is at the terminal interrupts the core, which decides. */
	setsid();
	if (chdir("/"))
		return err_sys(err, WHERE, "leave the directory");
	*ret = b;
	return 0;
}

void start_follow(uint32_t cpu)
{
	cpu_set_t set;

	if (cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* Only speed depends on it. */
	sched_setaffinity(0, sizeof set, &set);
}

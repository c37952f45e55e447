/* native_ward.h - runs the attacks of jail_ward.h as the payload of a native
 * jail, whole or without some of its controls. */
#ifndef NATIVE_WARD_H
#define NATIVE_WARD_H

#include "jail_ward.h"
#include "jail/native_state.h"

#define JAILED NATIVE
#define LESS(controls) (NATIVE | (controls))
#define NO_FILTER LESS(SECCOMP)
#define NO_RULES LESS(LANDLOCK)
#define NEITHER LESS(SECCOMP | LANDLOCK)
#define TMP_BYTES (1u << 20)
#define ENTRIES 8

struct cell { /* one run of one attack */
	const struct attack *a;
	struct scene *s;
	struct native *n;
	uint32_t without;
	int out[2]; /* what the attack says; how its process ended */
	int grant;
};

static size_t fill_root(const struct cell *c, struct native_entry *e)
{
	size_t n = 0;

	e[n++] = (struct native_entry){NATIVE_DIR, true, "/usr", "/usr"};
	e[n++] = (struct native_entry){NATIVE_LINK, false, "/bin", "usr/bin"};
	e[n++] = (struct native_entry){NATIVE_LINK, false, "/lib", "usr/lib"};
	e[n++] = (struct native_entry){NATIVE_LINK, false, "/lib64",
				       "usr/lib64"};
	if (c->a->shown == 2)
		e[n++] = (struct native_entry){NATIVE_DIR, true, "/scene",
					       c->s->dir};
	return n;
}

static _Noreturn void be_payload(struct cell *c, int gate)
{
	int keep[5] = {0, 1, 2, c->out[0], c->s->leak};
	struct native_payload p = {.keep = keep,
				   .n_keep = 4,
				   .file_bytes = 64u << 20,
				   .early = c->a->shown != 1};
	bool lower = c->s->leak < c->out[0];
	const char *what;
	char byte;
	int rc;

	if (read(gate, &byte, 1) != 1)
		_exit(97);
	if (c->a->keep) {
		keep[3] = lower ? c->s->leak : c->out[0];
		keep[4] = lower ? c->out[0] : c->s->leak;
		p.n_keep = 5;
	}
	what = native_payload(c->n, &p);
	c->out[0] = c->a->keep && lower ? 4 : 3;
	if (what)
		say(c->out[0], NOT_SET_UP, what);
	if (c->a->keep)
		c->s->leak = lower ? 3 : 4;
	if (c->a->shown == 2) {
		strcpy(c->s->dir, "/scene");
		strcpy(c->s->secret, "/scene/secret");
	}
	rc = c->a->run(c->s);
	say(c->out[0], rc, c->s->why_not);
}

static _Noreturn void be_init(struct cell *c)
{
	int keep[6] = {0, 1, 2}, n = 3, gate[2];
	int more[3] = {c->out[0], c->out[1], c->a->shown == 1 ? c->grant : -1};
	struct redoma_error err = {0};
	struct jail_report report;
	struct outcome end = {0};
	pid_t pid;

	if (c->a->keep)
		keep[n++] = c->s->leak;
	for (int i = 0; i < 3; i++) {
		int at = n;

		if (more[i] < 0)
			continue;
		for (; at > 3 && keep[at - 1] > more[i]; at--)
			keep[at] = keep[at - 1];
		keep[at] = more[i];
		n++;
	}
	if (native_enter(c->n, keep, (size_t)n, &report, &err))
		say(c->out[0], NOT_SET_UP, err.text);
	if (c->a->shown == 1 &&
	    native_attach(c->n, c->grant, c->s->dir, true, &err))
		say(c->out[0], NOT_SET_UP, err.text);
	c->n->j.lacks |= c->without;
	if (pipe2(gate, O_CLOEXEC))
		_exit(96);
	pid = fork();
	if (pid == 0) {
		close(gate[1]);
		be_payload(c, gate[0]);
	}
	if (native_settle(c->n, &err))
		say(c->out[0], NOT_SET_UP, err.text);
	if (write(gate[1], "", 1) != 1)
		_exit(96);
	close(c->out[0]);
	if (waitid(P_PID, (id_t)pid, &end.info, WEXITED))
		end.result = NOT_SET_UP;
	if (write(c->out[1], &end, sizeof end) != (ssize_t)sizeof end)
		_exit(98);
	_exit(0);
}

static _Noreturn void be_spawner(struct cell *c)
{
	struct native_entry entries[ENTRIES];
	struct native_options o = {.may_lack = BIT(JAIL_CGROUP),
				   .entries = entries,
				   .tmp_bytes = TMP_BYTES,
				   .memory_bytes = 1ull << 40,
				   .pids = 64};
	struct redoma_error err = {0};
	struct outcome end = {.result = HUNG};
	int dir, pidfd;
	pid_t pid;

	alarm((unsigned)ward_ms(30));
	prctl(PR_SET_DUMPABLE, 1);
	dir = open(c->s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	o.n_entries = fill_root(c, entries);
	if (native_prepare(&o, &c->n, NULL, &err) ||
	    native_mount(c->n, dir, 2000, &c->grant, &err))
		say(c->out[0], NOT_SET_UP, err.text);
	close(dir);
	for (int i = 0; i < JAIL_CONTROLS; i++)
		if (c->without & BIT(i) && ns_flag((enum jail_control)i) > 0)
			c->n->namespaces &= ~(uint64_t)ns_flag(
				(enum jail_control)i);
	pid = native_fork(c->n, NULL, &pidfd, &err);
	if (pid < 0)
		say(c->out[0], NOT_SET_UP, err.text);
	if (!pid)
		be_init(c);
	if (poll(&(struct pollfd){pidfd, POLLIN, 0}, 1, ward_ms(8000)) == 0) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		if (write(c->out[1], &end, sizeof end) != (ssize_t)sizeof end)
			_exit(98);
	}
	waitid(P_PIDFD, (id_t)pidfd, &end.info, WEXITED);
	native_free(c->n);
	_exit(0);
}

static int native_try(const struct attack *a, uint32_t controls,
		      struct scene *s, struct outcome *ret)
{
	struct cell c = {.a = a, .s = s, .without = controls & ~NATIVE};
	int said[2], ended[2], status;
	struct outcome end = {.result = NOT_SET_UP};
	pid_t pid;

	if (!(controls & NATIVE))
		return ward_try(a, controls, s, ret);
	memset(ret, 0, sizeof *ret);
	if (pipe2(said, O_CLOEXEC) || pipe2(ended, O_CLOEXEC))
		return NOT_SET_UP;
	c.out[0] = said[1];
	c.out[1] = ended[1];
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		be_spawner(&c);
	close(said[1]);
	close(ended[1]);
	if (read(said[0], ret, sizeof *ret) != (ssize_t)sizeof *ret)
		ret->said = false;
	if (read(ended[0], &end, sizeof end) != (ssize_t)sizeof end)
		end.result = ret->said ? 0 : NOT_SET_UP;
	close(said[0]);
	close(ended[0]);
	waitpid(pid, &status, 0);
	ret->info = end.info;
	if (ret->said)
		return ret->result;
	if (end.result)
		return end.result;
	if (end.info.si_code == CLD_EXITED)
		return end.info.si_status ? ECHILD : WORKED; /* exec'd */
	return -end.info.si_status;
}

static USED int native_main(const struct attack *a, size_t n,
			    int (*prepare)(struct scene *s))
{
	ward_run = native_try;
	return ward_main(a, n, prepare);
}

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

#endif

/* jail_bpf.h - classic BPF as seccomp runs it (seccomp(2), linux/filter.h),
 * in user space: what would the kernel say to this call? */
#ifndef JAIL_BPF_H
#define JAIL_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BPF_BAD 0xffffffffu /* no verdict of seccomp's */

struct bpf_state {
	uint32_t a, x, mem[BPF_MEMWORDS];
	size_t pc;
};

static bool bpf_alu(struct bpf_state *s, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? s->x : f->k;

	switch (BPF_OP(f->code)) {
	case BPF_ADD:
		s->a += v;
		return true;
	case BPF_SUB:
		s->a -= v;
		return true;
	case BPF_AND:
		s->a &= v;
		return true;
	case BPF_OR:
		s->a |= v;
		return true;
	case BPF_XOR:
		s->a ^= v;
		return true;
	case BPF_LSH:
		s->a = v < 32 ? s->a << v : 0;
		return v < 32;
	case BPF_RSH:
		s->a = v < 32 ? s->a >> v : 0;
		return v < 32;
	case BPF_NEG:
		s->a = -s->a;
		return true;
	default:
		return false;
	}
}

static bool bpf_jump(struct bpf_state *s, const struct sock_filter *f)
{
	uint32_t v = BPF_SRC(f->code) == BPF_X ? s->x : f->k;
	bool yes;

	switch (BPF_OP(f->code)) {
	case BPF_JA:
		s->pc += f->k;
		return true;
	case BPF_JEQ:
		yes = s->a == v;
		break;
	case BPF_JGT:
		yes = s->a > v;
		break;
	case BPF_JGE:
		yes = s->a >= v;
		break;
	case BPF_JSET:
		yes = s->a & v;
		break;
	default:
		return false;
	}
	s->pc += yes ? f->jt : f->jf;
	return true;
}

static bool bpf_move(struct bpf_state *s, const struct sock_filter *f,
		     const struct seccomp_data *d)
{
	uint32_t at = f->k;

	switch (f->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		if (at % 4 || at > sizeof *d - 4)
			return false;
		memcpy(&s->a, (const char *)d + at, 4);
		return true;
	case BPF_LD | BPF_IMM:
		s->a = at;
		return true;
	case BPF_LDX | BPF_IMM:
		s->x = at;
		return true;
	case BPF_MISC | BPF_TAX:
		s->x = s->a;
		return true;
	case BPF_MISC | BPF_TXA:
		s->a = s->x;
		return true;
	}
	if (at >= BPF_MEMWORDS)
		return false;
	switch (f->code) {
	case BPF_LD | BPF_MEM:
		s->a = s->mem[at];
		return true;
	case BPF_LDX | BPF_MEM:
		s->x = s->mem[at];
		return true;
	case BPF_ST:
		s->mem[at] = s->a;
		return true;
	case BPF_STX:
		s->mem[at] = s->x;
		return true;
	default:
		return false;
	}
}

/* The action for one call, or BPF_BAD: the program is not valid. */
static uint32_t bpf_run(const struct sock_filter *code, size_t len,
			const struct seccomp_data *d)
{
	struct bpf_state s = {0};
	bool good = true;

	while (good && s.pc < len) { /* jumps only go forward */
		const struct sock_filter *f = &code[s.pc++];

		switch (BPF_CLASS(f->code)) {
		case BPF_RET:
			return f->code == (BPF_RET | BPF_A) ? s.a : f->k;
		case BPF_ALU:
			good = bpf_alu(&s, f);
			break;
		case BPF_JMP:
			good = bpf_jump(&s, f);
			break;
		default:
			good = bpf_move(&s, f, d);
		}
	}
	return BPF_BAD;
}

#endif

/* bpf_gen FILTER OUT.h - compiles one filter of seccomp_table.h to BPF, at
 * build time:
 *	static const struct sock_filter seccomp_FILTER[] = {...};
 *	#define SECCOMP_FILTER_ARCH 0xc000003eu
 *
 * What it costs a process to install a filter goes with its length: so calls
 * that are neighbours and have the same verdict are one range, and a binary
 * search finds the range.  The program is made from its end to its beginning:
 * where a jump leads is known then.  The tests run the outcome against the
 * table, with an evaluator of their own. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "jail/seccomp_table.h"

#define NUMBERS 1024	   /* more than the kernel has */
#define X32_BIT 0x40000000u
#define NO_NUMBER UINT32_MAX /* -1: a tracer took the call away */
#define CODE_MAX BPF_MAXINSNS
#define FAR 255 /* as far as a conditional jump leads */

_Static_assert(SYS_read == 0 && SYS_execve == 59 && SYS_exit_group == 231,
	       "the numbers of KERNEL_ARCH");

static const char *const names[JAIL_FILTERS] = {
	[JAIL_FILTER_WORKER] = "worker",
	[JAIL_FILTER_LOADING] = "loading",
	[JAIL_FILTER_COMPILER] = "compiler",
	[JAIL_FILTER_NATIVE] = "native",
	[JAIL_FILTER_INIT] = "init",
};

/* Numbers from `first` on, up to the next range. */
struct range {
	uint32_t first;
	const struct seccomp_row *row; /* its first, with tests; NULL: none */
	uint32_t verdict;	       /* without */
};

struct program {
	struct sock_filter code[CODE_MAX]; /* the last instruction first */
	unsigned n;
	struct range ranges[NUMBERS + 3];
	unsigned n_ranges, filter;
	uint32_t otherwise; /* what is not in the table */
};

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "bpf_gen: %s: %s\n", name, what);
	exit(1);
}

/* Before all others so far.  A place in the program is the number of
 * instructions from it to the end. */
static unsigned put(struct program *p, unsigned code, uint32_t k)
{
	if (p->n == CODE_MAX)
		fail("too long", "the program");
	p->code[p->n] = (struct sock_filter){(uint16_t)code, 0, 0, k};
	return ++p->n;
}

static unsigned load(struct program *p, size_t at)
{
	return put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)at);
}

/* The nearest instruction that gives this verdict. */
static unsigned verdict(struct program *p, uint32_t v)
{
	for (unsigned i = p->n; i && p->n - i < FAR - 2; i--)
		if (p->code[i - 1].code == (BPF_RET | BPF_K) &&
		    p->code[i - 1].k == v)
			return i;
	return put(p, BPF_RET | BPF_K, v);
}

static unsigned within_reach(struct program *p, unsigned place)
{
	if (p->n - place <= FAR - 2)
		return place;
	return put(p, BPF_JMP | BPF_JA, p->n - place);
}

static unsigned jump(struct program *p, unsigned op, uint32_t k, unsigned yes,
		     unsigned no)
{
	struct sock_filter *f;

	yes = within_reach(p, yes);
	no = within_reach(p, no);
	put(p, BPF_JMP | op | BPF_K, k);
	f = &p->code[p->n - 1];
	f->jt = (uint8_t)(p->n - 1 - yes);
	f->jf = (uint8_t)(p->n - 1 - no);
	return p->n;
}

static size_t low_half(unsigned arg)
{
	return offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t);
}

static void masked(struct program *p, uint32_t mask, size_t at)
{
	if (mask != UINT32_MAX)
		put(p, BPF_ALU | BPF_AND | BPF_K, mask);
	load(p, at);
}

/* Where a row goes that does not allow: to the next row of that call. */
static unsigned refusal(struct program *p, unsigned next_row)
{
	return next_row ? next_row : verdict(p, p->otherwise);
}

/* Its high halves must all be the same. */
static unsigned test(struct program *p, const struct seccomp_row *r,
		     const struct seccomp_test *t, unsigned yes,
		     unsigned next_row)
{
	uint32_t high = (uint32_t)(t->value[0] >> 32);
	unsigned next = refusal(p, next_row), low;

	for (unsigned i = t->n; i--;) {
		if (t->value[i] >> 32 != high || t->value[i] & ~t->mask)
			fail("a value that is not supported", r->name);
		next = jump(p, BPF_JEQ, (uint32_t)t->value[i], yes, next);
	}
	masked(p, (uint32_t)t->mask, low_half(t->arg));
	low = p->n;
	if (!(t->mask >> 32))
		return low;
	jump(p, BPF_JEQ, high, low, refusal(p, next_row));
	masked(p, (uint32_t)(t->mask >> 32),
	       low_half(t->arg) + sizeof(uint32_t));
	return p->n;
}

static unsigned of_row(struct program *p, const struct seccomp_row *r,
		       unsigned next_row)
{
	unsigned place = verdict(p, SECCOMP_RET_ALLOW);

	for (unsigned t = SECCOMP_TESTS; t--;)
		if (r->test[t].mask)
			place = test(p, r, &r->test[t], place, next_row);
	return place;
}

static bool is_for(const struct seccomp_row *r, unsigned filter, uint32_t nr)
{
	return (uint32_t)r->nr == nr && r->filters & 1u << filter;
}

static unsigned of_range(struct program *p, const struct range *r)
{
	unsigned place = 0;

	if (!r->row)
		return verdict(p, r->verdict);
	for (size_t i = SECCOMP_ROWS; i--;)
		if (is_for(&seccomp_table[i], p->filter, (uint32_t)r->row->nr))
			place = of_row(p, &seccomp_table[i], place);
	return place;
}

/* Finds the range of the number that is loaded, among those of [from, to). */
static unsigned search(struct program *p, unsigned from, unsigned to)
{
	unsigned middle = from + (to - from) / 2, high, low;

	if (to - from == 1)
		return of_range(p, &p->ranges[from]);
	high = search(p, middle, to);
	low = search(p, from, middle);
	return jump(p, BPF_JGE, p->ranges[middle].first, high, low);
}

static void add_range(struct program *p, struct range r)
{
	const struct range *last =
		p->n_ranges ? &p->ranges[p->n_ranges - 1] : NULL;

	if (last && !r.row && !last->row && r.verdict == last->verdict)
		return;
	p->ranges[p->n_ranges++] = r;
}

/* The first row; of several, each has tests: one without would allow whatever
 * the others refuse. */
static const struct seccomp_row *find(unsigned filter, uint32_t nr)
{
	const struct seccomp_row *found = NULL;

	for (size_t i = 0; i < SECCOMP_ROWS; i++) {
		const struct seccomp_row *r = &seccomp_table[i];

		if ((uint32_t)r->nr >= NUMBERS)
			fail("a number that is not supported", r->name);
		if (!is_for(r, filter, nr))
			continue;
		if (found && !(found->test[0].mask && r->test[0].mask))
			fail("a row without tests and another", r->name);
		found = found ? found : r;
	}
	return found;
}

static void find_ranges(struct program *p)
{
	for (uint32_t nr = 0; nr <= NUMBERS; nr++) {
		const struct seccomp_row *r = find(p->filter, nr);
		bool tests = r && (r->test[0].mask || r->test[1].mask);

		add_range(p, (struct range){nr, tests ? r : NULL,
					    r ? SECCOMP_RET_ALLOW
					      : p->otherwise});
	}
	add_range(p, (struct range){X32_BIT, NULL, SECCOMP_RET_KILL_PROCESS});
	add_range(p, (struct range){NO_NUMBER, NULL, p->otherwise});
}

static void build(struct program *p)
{
	unsigned start, bad;

	p->otherwise = p->filter == JAIL_FILTER_NATIVE
			       ? SECCOMP_RET_ERRNO | ENOSYS
			       : SECCOMP_RET_KILL_PROCESS;
	find_ranges(p);
	start = search(p, 0, p->n_ranges);
	if (start != p->n)
		put(p, BPF_JMP | BPF_JA, p->n - start);
	start = load(p, offsetof(struct seccomp_data, nr));
	bad = verdict(p, SECCOMP_RET_KILL_PROCESS);
	jump(p, BPF_JEQ, KERNEL_ARCH, start, bad);
	load(p, offsetof(struct seccomp_data, arch));
}

static int print(const struct program *p, const char *name, FILE *out)
{
	fprintf(out,
		"/* Generated by bpf_gen from jail/seccomp_table.h. */\n"
		"#include <linux/filter.h>\n"
		"#define SECCOMP_%s_ARCH 0x%xu\n"
		"static const struct sock_filter seccomp_%s[] = {\n",
		name, KERNEL_ARCH, name);
	for (unsigned i = p->n; i--;)
		fprintf(out, "\t{0x%02x, %u, %u, 0x%08x},\n",
			p->code[i].code, p->code[i].jt, p->code[i].jf,
			p->code[i].k);
	return fprintf(out, "};\n") < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct program p;
	unsigned filter = 0;
	FILE *out;

	while (argc == 3 && filter < JAIL_FILTERS &&
	       strcmp(names[filter], argv[1]) != 0)
		filter++;
	if (argc != 3 || filter == JAIL_FILTERS) {
		fprintf(stderr, "usage: bpf_gen worker|loading|compiler|"
				"native|init OUT.h\n");
		return 2;
	}
	p.filter = filter;
	build(&p);
	out = fopen(argv[2], "w");
	if (!out || print(&p, argv[1], out) || fclose(out))
		fail("cannot be written", argv[2]);
	return 0;
}

#include "columns/step.h"

#include <math.h>
#include <stdbool.h>

#define MINUS_ZERO INT64_MIN /* its bits, and the sign's alone */

/* One row after another: what the compiler makes of it takes two at once. */
#define EACH(what)                                                             \
	do {                                                                   \
		for (size_t k = 0; k < n; k++)                                 \
			what;                                                  \
	} while (0)
#define MASK(truth) (-(int64_t)(truth))
#define WIDE ((int64_t)1 << 53)
#define FAR 40 /* powers of two, of which fmod takes one after another */

static int power(double v)
{
	const union lane l = {.f = v};

	return (int)(l.u >> 52 & 0x7ff);
}

static bool is_far(double a, double b)
{
	return !power(b) || power(a) - power(b) > FAR;
}

/* Not a branch around fmod: to the compiler that is an operation without
 * effects, which it takes in front of branches. */
static double remainder_of(double a, double b)
{
	bool far = is_far(a, b);

	return fmod(far ? 0 : a, far ? 1 : b);
}

/* Python's own ways to round downwards. */
static double modulo(double a, double b)
{
	double mod = remainder_of(a, b);

	if (mod == 0)
		return copysign(0, b);
	return (b < 0) != (mod < 0) ? mod + b : mod;
}

static double floor_divide(double a, double b)
{
	double mod = remainder_of(a, b), div = (a - mod) / b, whole;

	if (mod != 0 && (b < 0) != (mod < 0))
		div -= 1;
	if (div == 0)
		return copysign(0, a / b);
	whole = floor(div);
	return div - whole > 0.5 ? whole + 1 : whole;
}

static bool is_indivisible(int64_t a, int64_t b)
{
	return b == 0 || (b == -1 && a == INT64_MIN);
}

static int64_t int_floor_divide(int64_t a, int64_t b)
{
	if (is_indivisible(a, b))
		return 0;
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_modulo(int64_t a, int64_t b)
{
	int64_t mod = is_indivisible(a, b) ? 0 : a % b;

	return mod && (mod < 0) != (b < 0) ? mod + b : mod;
}

static bool multiply_wraps(int64_t a, int64_t b)
{
	int64_t product;

	/* Half as wide, it cannot. */
	if (a == (int32_t)a && b == (int32_t)b)
		return false;
	return __builtin_mul_overflow(a, b, &product);
}

static void arithmetic(enum step_op op, size_t n, union lane *restrict to,
		       const union lane *restrict a,
		       const union lane *restrict b)
{
	switch (op) {
	case STEP_FLOAT_ADD:
		EACH(to[k].f = a[k].f + b[k].f);
		return;
	case STEP_FLOAT_SUBTRACT:
		EACH(to[k].f = a[k].f - b[k].f);
		return;
	case STEP_FLOAT_MULTIPLY:
		EACH(to[k].f = a[k].f * b[k].f);
		return;
	case STEP_FLOAT_DIVIDE:
		EACH(to[k].f = a[k].f / b[k].f);
		return;
	case STEP_FLOAT_REMAINDER:
		EACH(to[k].f = remainder_of(a[k].f, b[k].f));
		return;
	case STEP_FLOAT_MODULO:
		EACH(to[k].f = modulo(a[k].f, b[k].f));
		return;
	case STEP_FLOAT_FLOOR_DIVIDE:
		EACH(to[k].f = floor_divide(a[k].f, b[k].f));
		return;
	case STEP_INT_ADD:
		EACH(to[k].u = a[k].u + b[k].u);
		return;
	case STEP_INT_SUBTRACT:
		EACH(to[k].u = a[k].u - b[k].u);
		return;
	case STEP_INT_MULTIPLY:
		EACH(to[k].u = a[k].u * b[k].u);
		return;
	case STEP_INT_FLOOR_DIVIDE:
		EACH(to[k].i = int_floor_divide(a[k].i, b[k].i));
		return;
	default: /* STEP_INT_MODULO */
		EACH(to[k].i = int_modulo(a[k].i, b[k].i));
	}
}

/* Without an instruction for it: the halves, each beside a power of two that
 * makes a float64 of it, and one sum, which alone is rounded. */
static void int_to_float(size_t n, union lane *restrict to,
			 const union lane *restrict a)
{
	const union lane low = {.f = 0x1p52}, high = {.f = 0x1.8p84};
	const union lane both = {.f = 0x1.8p84 + 0x1p52};

	for (size_t k = 0; k < n; k++) {
		union lane l = {.u = (a[k].u & 0xffffffffu) | low.u};
		union lane h = {.u = (uint64_t)(a[k].i >> 32) + high.u};

		to[k].f = (h.f - both.f) + l.f;
	}
}

static void unary(enum step_op op, size_t n, union lane *restrict to,
		  const union lane *restrict a)
{
	switch (op) {
	case STEP_FLOAT_NEGATE:
		EACH(to[k].i = a[k].i ^ MINUS_ZERO);
		return;
	case STEP_FLOAT_ABS:
		EACH(to[k].i = a[k].i & ~MINUS_ZERO);
		return;
	case STEP_FLOAT_NO_MINUS_ZERO:
		EACH(to[k].f = a[k].f + 0.0);
		return;
	case STEP_INT_NEGATE:
		EACH(to[k].u = 0 - a[k].u);
		return;
	case STEP_INT_ABS:
		EACH(to[k].u = a[k].i < 0 ? 0 - a[k].u : a[k].u);
		return;
	case STEP_INT_TO_FLOAT:
		int_to_float(n, to, a);
		return;
	case STEP_MASK_TO_INT:
		EACH(to[k].i = a[k].i & 1);
		return;
	default: { /* STEP_MASK_TO_FLOAT */
		const union lane one = {.f = 1};

		EACH(to[k].i = a[k].i & one.i);
	}
	}
}

static void compare(enum step_op op, size_t n, union lane *restrict to,
		    const union lane *restrict a, const union lane *restrict b)
{
	switch (op) {
	case STEP_FLOAT_EQUAL:
		EACH(to[k].i = MASK(a[k].f == b[k].f));
		return;
	case STEP_FLOAT_UNEQUAL:
		EACH(to[k].i = MASK(a[k].f != b[k].f));
		return;
	case STEP_FLOAT_LESS:
		EACH(to[k].i = MASK(a[k].f < b[k].f));
		return;
	case STEP_FLOAT_LESS_EQUAL:
		EACH(to[k].i = MASK(a[k].f <= b[k].f));
		return;
	case STEP_FLOAT_NONZERO:
		EACH(to[k].i = MASK(a[k].f < 0) | MASK(a[k].f > 0));
		return;
	case STEP_FLOAT_UNUSUAL:
		EACH(to[k].i = MASK(a[k].f - a[k].f != 0));
		return;
	case STEP_FLOAT_FAR:
		EACH(to[k].i = MASK(is_far(a[k].f, b[k].f)));
		return;
	case STEP_INT_EQUAL:
		EACH(to[k].i = MASK(a[k].i == b[k].i));
		return;
	case STEP_INT_UNEQUAL:
		EACH(to[k].i = MASK(a[k].i != b[k].i));
		return;
	case STEP_INT_LESS:
		EACH(to[k].i = MASK(a[k].i < b[k].i));
		return;
	default: /* STEP_INT_LESS_EQUAL */
		EACH(to[k].i = MASK(a[k].i <= b[k].i));
	}
}

/* Which rows' integers do not fit. */
static void beyond(enum step_op op, size_t n, union lane *restrict to,
		   const union lane *restrict a, const union lane *restrict b)
{
	switch (op) {
	case STEP_ADD_WRAPS:
		EACH(to[k].i = (int64_t)((a[k].u ^ (a[k].u + b[k].u)) &
					 (b[k].u ^ (a[k].u + b[k].u))) >>
			       63);
		return;
	case STEP_SUBTRACT_WRAPS:
		EACH(to[k].i = (int64_t)((a[k].u ^ b[k].u) &
					 (a[k].u ^ (a[k].u - b[k].u))) >>
			       63);
		return;
	case STEP_MULTIPLY_WRAPS:
		EACH(to[k].i = MASK(multiply_wraps(a[k].i, b[k].i)));
		return;
	case STEP_INDIVISIBLE:
		EACH(to[k].i = MASK(is_indivisible(a[k].i, b[k].i)));
		return;
	default: /* STEP_INT_WIDE */
		EACH(to[k].i = MASK(a[k].i > WIDE) | MASK(a[k].i < -WIDE));
	}
}

static void logic(enum step_op op, size_t n, union lane *restrict to,
		  const union lane *const from[3])
{
	const union lane *restrict a = from[0];
	const union lane *restrict b = from[1];
	const union lane *restrict c = from[2];

	switch (op) {
	case STEP_AND:
		EACH(to[k].i = a[k].i & b[k].i);
		return;
	case STEP_AND_NOT:
		EACH(to[k].i = a[k].i & ~b[k].i);
		return;
	case STEP_OR:
		EACH(to[k].i = a[k].i | b[k].i);
		return;
	case STEP_NOT:
		EACH(to[k].i = ~a[k].i);
		return;
	default: /* STEP_SELECT */
		EACH(to[k].i = (a[k].i & b[k].i) | (~a[k].i & c[k].i));
	}
}

unsigned step_cost(enum step_op op)
{
	switch (op) {
	case STEP_FLOAT_REMAINDER:
	case STEP_FLOAT_MODULO:
	case STEP_FLOAT_FLOOR_DIVIDE:
		return 256;
	case STEP_INT_FLOOR_DIVIDE:
	case STEP_INT_MODULO:
		return 32;
	case STEP_FLOAT_MULTIPLY: /* of what is next to 0, on some CPUs */
	case STEP_FLOAT_DIVIDE:
		return 16;
	case STEP_MULTIPLY_WRAPS:
	case STEP_INDIVISIBLE:
		return 4;
	default:
		return 1;
	}
}

void step_run(enum step_op op, size_t n, union lane *to,
	      const union lane *const from[3])
{
	if (op >= STEP_AND)
		logic(op, n, to, from);
	else if (op >= STEP_ADD_WRAPS)
		beyond(op, n, to, from[0], from[1]);
	else if (op >= STEP_FLOAT_EQUAL)
		compare(op, n, to, from[0], from[1]);
	else if (op <= STEP_FLOAT_FLOOR_DIVIDE ||
		 (op >= STEP_INT_ADD && op <= STEP_INT_MODULO))
		arithmetic(op, n, to, from[0], from[1]);
	else
		unary(op, n, to, from[0]);
}

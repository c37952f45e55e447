#include "engine/exec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/state.h"
#include "engine/types.h"

#define WHERE "engine"
#define VALUES_MAX 64		  /* parameters or results of one call */
#define SAFE_INTEGER (1LL << 53) /* beyond it a JSON number loses digits */

static int bad_arg(const char *s, size_t n, const char *what,
		   struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "argument %zu, \"%.40s\", is not %s", n + 1, s, what);
}

static bool is_blank(const char *s)
{
	return !*s || *s == ' ' || (*s >= '\t' && *s <= '\r');
}

/* Signed or unsigned, as long as it fits `bits`. */
static bool parse_integer(const char *s, int bits, int64_t *ret)
{
	const char *digits = s + (*s == '-' || *s == '+');
	int base = digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10;
	uint64_t top = bits == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t u;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	u = strtoull(digits, &end, base);
	if (errno || *end || end == digits)
		return false;
	if (*s == '-') {
		if (u > top / 2 + 1)
			return false;
		*ret = (int64_t)(0 - u);
		return true;
	}
	if (u > top)
		return false;
	*ret = (int64_t)u;
	return true;
}

static bool parse_float(const char *s, double *ret)
{
	char *end;

	if (is_blank(s))
		return false;
	*ret = strtod(s, &end);
	return !*end;
}

static int parse_arg(const char *s, size_t n, char type,
		     wasmtime_val_raw_t *v, struct redoma_error *err)
{
	int64_t i;
	double d;

	switch (type) {
	case 'i':
		if (!parse_integer(s, 32, &i))
			return bad_arg(s, n, "a 32-bit integer", err);
		v->i32 = (int32_t)(uint32_t)i;
		return 0;
	case 'I':
		if (!parse_integer(s, 64, &i))
			return bad_arg(s, n, "a 64-bit integer", err);
		v->i64 = i;
		return 0;
	case 'f':
	case 'F':
		if (!parse_float(s, &d))
			return bad_arg(s, n, "a number", err);
		if (type == 'f')
			v->f32 = (float)d;
		else
			v->f64 = d;
		return 0;
	default:
		return bad_arg(s, n, "something this export can take", err);
	}
}

static int put_integer(struct buf *b, int64_t i)
{
	if (i < SAFE_INTEGER && i > -SAFE_INTEGER)
		return buf_addf(b, "%lld", (long long)i);
	return buf_addf(b, "{\"$redoma\":\"bigint\",\"value\":\"%lld\"}",
			(long long)i);
}

/* The fewest digits that read back as the same number. */
static int put_digits(struct buf *b, double d, bool single)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		double back;

		snprintf(text, sizeof(text), "%.*g", digits, d);
		back = single ? (double)strtof(text, NULL) : strtod(text, NULL);
		if (back == d)
			break;
	}
	return buf_addf(b, "%s", text);
}

static int put_float(struct buf *b, double d, bool single)
{
	if (isnan(d))
		return buf_addf(b, "{\"$redoma\":\"nan\"}");
	if (isinf(d))
		return buf_addf(b, "{\"$redoma\":\"%sinf\"}",
				d < 0 ? "-" : "");
	if (d == 0 && signbit(d))
		return buf_addf(b, "{\"$redoma\":\"-0\"}");
	return put_digits(b, d, single);
}

static int put_value(struct buf *b, char type,
		     const wasmtime_val_raw_t *v)
{
	switch (type) {
	case 'i':
		return put_integer(b, v->i32);
	case 'I':
		return put_integer(b, v->i64);
	case 'f':
		return put_float(b, (double)v->f32, true);
	default:
		return put_float(b, v->f64, false);
	}
}

static int put_values(struct buf *b, const wasm_valtype_vec_t *types,
		      const wasmtime_val_raw_t *v, struct redoma_error *err)
{
	bool many = types->size > 1;
	int rc = many ? buf_addf(b, "[") : 0;

	for (size_t i = 0; i < types->size && !rc; i++) {
		if (i)
			rc = buf_addf(b, ",");
		if (!rc)
			rc = put_value(b, types_letter(types->data[i]),
				       &v[i]);
	}
	if (!rc && many)
		rc = buf_addf(b, "]");
	return rc ? err_nomem(err, WHERE) : 0;
}

static int check_types(const wasm_valtype_vec_t *v, const char *name,
		       struct redoma_error *err)
{
	if (v->size > VALUES_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "\"%.40s\" has %zu parameters or results; at "
			       "most %d can be passed",
			       name, v->size, VALUES_MAX);
	if (!types_are_numbers(v))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "\"%.40s\" takes or returns vectors or "
			       "references; only numbers can be passed",
			       name);
	return 0;
}

static int read_args(const wasm_functype_t *t, const char *name,
		     const char *const *argv, wasmtime_val_raw_t *values,
		     struct redoma_error *err)
{
	const wasm_valtype_vec_t *params = wasm_functype_params(t);
	size_t n = 0;
	int rc = check_types(params, name, err);

	if (!rc)
		rc = check_types(wasm_functype_results(t), name, err);
	while (!rc && argv[n])
		n++;
	if (!rc && n != params->size)
		rc = err_set(err, REDOMA_E_INVALID, WHERE,
			     "\"%.40s\" takes %zu arguments, %zu were given",
			     name, params->size, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = parse_arg(argv[i], i, types_letter(params->data[i]),
			       &values[i], err);
	return rc;
}

static void delete_type(wasm_functype_t **t)
{
	if (*t)
		wasm_functype_delete(*t);
}

/* A reactor's initialiser: once, before any other export. */
static void initialize(struct exec *x, struct exec_outcome *out)
{
	wasmtime_val_raw_t none[1];
	wasmtime_func_t f;

	out->end = EXEC_DONE;
	if (x->e->has_init && exec_func(x, "_initialize", &f))
		exec_call(x, &f, none, 0, out);
}

int exec_invoke(struct exec *x, const char *name, const char *const *argv,
		struct exec_outcome *out, struct buf *value,
		struct redoma_error *err)
{
	CLEANUP(delete_type) wasm_functype_t *type = NULL;
	wasmtime_val_raw_t values[VALUES_MAX];
	const wasm_valtype_vec_t *results;
	wasmtime_func_t f;
	size_t n;
	int rc;

	if (!exec_func(x, name, &f))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no exported function \"%.40s\"", name);
	type = wasmtime_func_type(x->ctx, &f);
	rc = read_args(type, name, argv, values, err);
	if (rc)
		return rc;
	initialize(x, out);
	if (out->end != EXEC_DONE)
		return 0;
	results = wasm_functype_results(type);
	n = wasm_functype_params(type)->size;
	exec_call(x, &f, values, n > results->size ? n : results->size, out);
	if (out->end != EXEC_DONE)
		return 0;
	return put_values(value, results, values, err);
}

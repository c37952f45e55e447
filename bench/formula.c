/* bench_formula: formulas through libredoma.
 *
 * bench_formula INSTALL LANG one N POLICY-OPTION...
 *	One formula on one row, N times, 1 ms apart; a line of wall
 *	nanoseconds.
 * bench_formula INSTALL LANG rows N POLICY-OPTION...
 *	The same formula over 100,000 rows of 3 columns, N times; a line of
 *	picoseconds a row.
 * An option is KEY=VALUE of redoma_policy_with. */
#include <redoma.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS 100000

static void die(const char *what, const struct redoma_error *e)
{
	fprintf(stderr, "%s: %s\n", what, e->text);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct redoma_policy *policy_of(char **options)
{
	struct redoma_policy *p, *next;
	struct redoma_error e;

	if (redoma_policy_parse("", 0, NULL, &p, &e))
		die("policy", &e);
	for (; *options; options++) {
		char *value = strchr(*options, '=');

		if (!value)
			exit(2);
		*value++ = '\0';
		if (redoma_policy_with(p, *options, value, NULL, &next, &e))
			die(*options, &e);
		redoma_policy_free(p);
		p = next;
	}
	return p;
}

/* What a cell is, so that nothing wrong is timed. */
static double expected(uint64_t i)
{
	double price = 1.25 * (double)(i % 1000), qty = (double)(i % 7);

	return qty > 3 ? price * qty : 0;
}

static uint64_t once(struct redoma *h, const struct redoma_formula_request *q)
{
	struct redoma_sheet *s;
	struct redoma_error e;
	uint64_t from = now_ns(), ns;

	if (redoma_formula(h, q, &s, &e))
		die("formula", &e);
	ns = now_ns() - from;
	for (uint64_t i = 0; i < q->rows; i++) {
		struct redoma_cell c = redoma_sheet_cell(s, 0, i);

		double n = c.kind == REDOMA_CELL_INTEGER ? (double)c.integer
							 : c.number;

		if ((c.kind != REDOMA_CELL_NUMBER &&
		     c.kind != REDOMA_CELL_INTEGER) ||
		    n != expected(i)) {
			fprintf(stderr, "row %llu is wrong\n",
				(unsigned long long)i);
			exit(1);
		}
	}
	redoma_sheet_free(s);
	return ns;
}

int main(int argc, char **argv)
{
	static double price[ROWS];
	static int64_t qty[ROWS], id[ROWS];
	struct redoma_formula f = {"total", "qty > 3 ? price * qty : 0"};
	struct redoma_column columns[3] = {
		{"price", REDOMA_COLUMN_FLOAT64, NULL, price, NULL, 0, 0},
		{"qty", REDOMA_COLUMN_INT64, NULL, qty, NULL, 0, 0},
		{"id", REDOMA_COLUMN_INT64, NULL, id, NULL, 0, 0},
	};
	struct redoma_formula_request q = REDOMA_FORMULA_REQUEST_INIT;
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p;
	struct redoma_error e;
	struct redoma *h;

	if (argc < 5)
		return 2;
	q.language = argv[2];
	if (!strcmp(argv[2], "py"))
		f.text = "price*qty if qty>3 else 0";
	for (int i = 0; i < ROWS; i++) {
		price[i] = 1.25 * (i % 1000);
		qty[i] = i % 7;
		id[i] = i;
	}
	o.install_dir = argv[1];
	o.formula_cache = 1; /* runs are timed */
	p = policy_of(argv + 5);
	if (redoma_open(p, &o, &h, &e))
		die("open", &e);
	q.formulas = &f;
	q.n_formulas = 1;
	q.columns = columns;
	q.n_columns = 3;
	q.rows = strcmp(argv[3], "rows") ? 1 : ROWS;
	for (int i = 0; i < 20; i++)
		once(h, &q);
	for (long i = atol(argv[4]); i > 0; i--) {
		uint64_t ns = once(h, &q);

		printf("%llu ",
		       (unsigned long long)(q.rows == 1 ? ns
							: ns * 1000 / ROWS));
		if (q.rows == 1)
			usleep(1000);
	}
	printf("\n");
	redoma_close(h);
	redoma_policy_free(p);
	return 0;
}

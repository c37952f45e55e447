/* What of a formula is a spreadsheet's way of writing, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/formula_hint.h"

static void hints(const char *text, bool js, size_t at, const char *says)
{
	struct formula_hint h = {0};

	if (!formula_hint(str_of(text), js, &h))
		fail_msg("%s: nothing is said", text);
	if (h.at != at || !strstr(h.what, says))
		fail_msg("%s: at %zu, %s", text, h.at, h.what);
}

static void both(const char *text, size_t at, const char *says)
{
	hints(text, false, at, says);
	hints(text, true, at, says);
}

static void none(const char *text, bool js)
{
	struct formula_hint h = {0};

	if (formula_hint(str_of(text), js, &h))
		fail_msg("%s: at %zu, %s", text, h.at, h.what);
}

static void doubts(const char *text, bool js, size_t at, const char *says)
{
	struct formula_hint h = {0};

	if (!formula_doubt(str_of(text), js, &h))
		fail_msg("%s: nothing is said", text);
	if (h.at != at || !strstr(h.what, says))
		fail_msg("%s: at %zu, %s", text, h.at, h.what);
}

static void no_doubts(const char *text, bool js)
{
	struct formula_hint h = {0};

	if (formula_doubt(str_of(text), js, &h))
		fail_msg("%s: at %zu, %s", text, h.at, h.what);
}

static void operators_that_are_others(void **state)
{
	(void)state;
	for (int js = 0; js < 2; js++) {
		doubts("p ^ 2", js, 2, "POWER(a, b)");
		doubts("(p)^2", js, 3, "`**`");
		doubts("p ** 2 + q[1] ^ 3", js, 14, "`**`");
		doubts("\"a\" & n", js, 4, "CONCAT");
		doubts("\"^\" + p ^ 2", js, 8, "`**`");
		no_doubts("p ** 2", js);
		no_doubts("\"p ^ 2 & 3\"", js);
		no_doubts("'it\\'s ^' + p", js);
		no_doubts("^", js);
	}
	no_doubts("a && b", true);
	doubts("a && b & c", true, 7, "`+`");
	no_doubts("/[^/a&b]+^/.test(p)", true);
	no_doubts("p.match(/a\\/^b/)", true);
	doubts("p / q ^ 2 / 3", true, 6, "`**`");
	no_doubts("p // 1 ^ 2", true);
	no_doubts("p # q ^ 2", false);
}

static void ways_of_spreadsheets(void **state)
{
	(void)state;
	both("IF(a;1;2)", 4, "comma");
	both("a <> 3", 2, "not equal");
	both("=a = 3", 3, "compares");
	both("IF(a = 3, 1, 2)", 5, "compares");
	both("a & \"x\"", 2, "CONCAT");
	both("a ^ 2", 2, "**");
	both("a * 10%", 6, "100");
	both("10% * a", 2, "100");
	both("$A$1 + 2", 0, "column");
	both("a \xc3\x97 2", 2, "`*`");
	both("\xe2\x80\x9cx\xe2\x80\x9d", 0, "text");
	both("IF a > 3 THEN 1", 0, "IF(condition");
	hints("a if b > 3 then 1", false, 11, "IF(condition");
	both("if(a, 1, 2)", 0, "capitals");
	both("a > 1 AND b", 6, "AND(a, b)");
	hints("a && b", false, 2, "and");
	hints("a || b", false, 2, "or");
	hints("a and b", true, 2, "&&");
	hints("not a", true, 0, "`!`");
	hints("a => 3", false, 2, ">=");
	both("a =< 3", 2, "<=");
}

static void statements(void **state)
{
	static const char what[] = "statement is no expression";

	(void)state;
	hints("for (;;);", true, 0, what);
	hints("= for(;;) {}", true, 2, what);
	hints("return a", true, 0, what);
	both("return a", 0, what);
	both("while (a) b", 0, what);
	hints("const b = a; b", true, 0, what);
	hints("for x in rows: x", false, 0, what);
	hints("import math", false, 0, what);
	hints("def f(x): x", false, 0, what);
	both("a + 1;", 5, "without `;`");
	none("(() => { for (;;) { f(); } })()", true);
	none("a.for", true);
	none("[b for b in a]", false);
	hints("a + {b: IF(1;2)} + IF(1;2)", true, 23, "comma");
}

static void what_is_not_closed(void **state)
{
	(void)state;
	both("SUM(a, (b + 1)", 3, "closes this bracket");
	both("a + \"x", 4, "quote");
	both("a + ", 2, "missing behind");
	both("a,", 1, "missing behind");
	hints("a + # b", false, 2, "missing behind");
	none("a + 'x'", false);
	none("a + 1 ", true);
	both("a + b)", 5, "opens");
	both("(a]", 2, "opens");
	hints("a + `x", true, 4, "quote");
}

static void what_is_right_is_left_alone(void **state)
{
	static const char *const py[] = {
		"a == 3 and not b or c", "IF(a > 1, 'x;y', \"<>\")",
		"a if b else c", "a % 3", "f'{a}'", "[x for x in b]",
		"(y := a) + y", "a <= 3 and a >= 1 and a != 2", "a # ; <>",
		"{'k': 1}['k']", "'it\\'s; '", "AND(a, b)", "", "=a", "a ** 2",
	};
	static const char *const js[] = {
		"a === 3 && !b || c", "IF(a > 1, 'x;y', `<>`)", "x => x + 1",
		"a % b", "OR(a, b)", "a // ; <>", "a >= 3", "a !== b",
	};

	(void)state;
	for (size_t i = 0; i < sizeof py / sizeof *py; i++)
		none(py[i], false);
	for (size_t i = 0; i < sizeof js / sizeof *js; i++)
		none(js[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_of_spreadsheets),
		cmocka_unit_test(operators_that_are_others),
		cmocka_unit_test(statements),
		cmocka_unit_test(what_is_not_closed),
		cmocka_unit_test(what_is_right_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

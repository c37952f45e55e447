/* Walks JSON text byte by byte: structure, strings, numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 40000
#define ROUNDS 12

struct count {
	long strings, numbers, depth, deepest, chars;
	double sum;
};

static const char *number(const char *p, struct count *c)
{
	double v = 0, scale = 1;
	int neg = *p == '-';

	p += neg;
	for (; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++) {
			scale *= 0.1;
			v += (*p - '0') * scale;
		}
	c->numbers++;
	c->sum += neg ? -v : v;
	return p;
}

static const char *string(const char *p, struct count *c)
{
	for (p++; *p != '"'; p++) {
		if (*p == '\\')
			p++;
		c->chars++;
	}
	c->strings++;
	return p + 1;
}

static void scan(const char *p, struct count *c)
{
	while (*p) {
		switch (*p) {
		case '{':
		case '[':
			c->depth++;
			if (c->depth > c->deepest)
				c->deepest = c->depth;
			p++;
			break;
		case '}':
		case ']':
			c->depth--;
			p++;
			break;
		case '"':
			p = string(p, c);
			break;
		default:
			p = *p == '-' || (*p >= '0' && *p <= '9')
				    ? number(p, c)
				    : p + 1;
		}
	}
}

int main(void)
{
	static const char row[] = "{\"id\": 1042, \"name\": \"a \\\"quoted\\\" "
				  "name\", \"price\": -17.25, \"tags\": "
				  "[\"x\", \"yy\", [true, null]]},\n";
	size_t n = sizeof row - 1;
	char *text = malloc(ROWS * n + 1);
	struct count c = {0};

	if (!text)
		return 1;
	for (size_t i = 0; i < ROWS; i++)
		memcpy(text + i * n, row, n);
	text[ROWS * n] = '\0';
	for (int r = 0; r < ROUNDS; r++)
		scan(text, &c);
	printf("%ld %ld %ld %ld %.2f\n", c.strings, c.numbers, c.deepest,
	       c.chars, c.sum);
	free(text);
	return 0;
}

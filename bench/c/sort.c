/* Quicksort of two million numbers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2000000

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Not qsort(3), so that both sides run the same one. */
static void sort(uint32_t *p, long n)
{
	while (n > 1) {
		uint32_t mid = p[n / 2];
		long i = 0, j = n - 1;

		while (i <= j) {
			while (by_value(&p[i], &mid) < 0)
				i++;
			while (by_value(&p[j], &mid) > 0)
				j--;
			if (i <= j) {
				uint32_t t = p[i];

				p[i++] = p[j];
				p[j--] = t;
			}
		}
		if (j + 1 < n - i) {
			sort(p, j + 1);
			p += i;
			n -= i;
		} else {
			sort(p + i, n - i);
			n = j + 1;
		}
	}
}

int main(void)
{
	uint32_t *p = malloc(N * sizeof *p), x = 1;

	if (!p)
		return 1;
	for (long i = 0; i < N; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = x;
	}
	sort(p, N);
	for (long i = 1; i < N; i++)
		if (p[i - 1] > p[i])
			return 1;
	printf("%u %u\n", p[0], p[N / 2]);
	free(p);
	return 0;
}

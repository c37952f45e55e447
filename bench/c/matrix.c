/* Product of two matrices of doubles, repeated. */
#include <stdio.h>

#define N 240
#define ROUNDS 12

static double a[N][N], b[N][N], c[N][N];

static void multiply(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			c[i][j] = 0;
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			for (int j = 0; j < N; j++)
				c[i][j] += a[i][k] * b[k][j];
}

int main(void)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (i * 3 + j) % 17 * 0.25;
			b[i][j] = (i + j * 5) % 13 * 0.5;
		}
	for (int r = 0; r < ROUNDS; r++) {
		multiply();
		a[r][r] += c[r][N - 1 - r] * 1e-6;
	}
	printf("%.6f\n", c[7][9] + c[N - 1][N - 1]);
	return 0;
}

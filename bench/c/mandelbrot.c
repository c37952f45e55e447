/* Iterations of the Mandelbrot set over a grid. */
#include <stdio.h>

#define SIDE 320
#define MAX 400

int main(void)
{
	long sum = 0;

	for (int py = 0; py < SIDE; py++)
		for (int px = 0; px < SIDE; px++) {
			double cx = -2.0 + 2.6 * px / SIDE;
			double cy = -1.3 + 2.6 * py / SIDE;
			double x = 0, y = 0;
			int i = 0;

			while (x * x + y * y <= 4 && i < MAX) {
				double t = x * x - y * y + cx;

				y = 2 * x * y + cy;
				x = t;
				i++;
			}
			sum += i;
		}
	printf("%ld\n", sum);
	return 0;
}

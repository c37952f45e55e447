/* The baseline of the JavaScript programs: quickjs-ng as the C compiler makes
 * it.  Prints the microseconds of CPU time that each program took. */
#include <quickjs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double run(const char *text, size_t len, const char *name)
{
	JSRuntime *rt = JS_NewRuntime();
	JSContext *ctx = JS_NewContext(rt);
	double from = cpu_us(), took;
	JSValue v = JS_Eval(ctx, text, len, name, JS_EVAL_TYPE_GLOBAL);

	if (JS_IsException(v)) {
		fprintf(stderr, "%s threw\n", name);
		exit(1);
	}
	took = cpu_us() - from;
	JS_FreeValue(ctx, v);
	JS_FreeContext(ctx);
	JS_FreeRuntime(rt);
	return took;
}

int main(int argc, char **argv)
{
	static char text[1 << 16];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

		if (!n)
			return 1;
		text[n] = '\0';
		fclose(f);
		printf("%.0f\n", run(text, n, argv[i]));
	}
	return 0;
}

/* Prints the engine's own bytecode of a script: bytecode SOURCE; or runs what
 * it reads: bytecode. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quickjs.h"

static JSValue compile(JSContext *ctx, const char *source)
{
	return JS_Eval(ctx, source, strlen(source), "agent.js",
		       JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
}

static int print(JSContext *ctx, const char *source)
{
	JSValue fn = compile(ctx, source);
	size_t n = 0;
	uint8_t *b = JS_WriteObject(ctx, &n, fn, JS_WRITE_OBJ_BYTECODE);

	return !b || fwrite(b, 1, n, stdout) != n;
}

static int run(JSContext *ctx)
{
	static uint8_t b[65536];
	size_t n = fread(b, 1, sizeof(b), stdin);
	JSValue fn = JS_ReadObject(ctx, b, n, JS_READ_OBJ_BYTECODE);
	const char *s = JS_ToCString(ctx, JS_EvalFunction(ctx, fn));

	printf("%s", s ? s : "failed");
	return 0;
}

int main(int argc, char **argv)
{
	JSContext *ctx = JS_NewContext(JS_NewRuntime());

	return argc > 1 ? print(ctx, argv[1]) : run(ctx);
}

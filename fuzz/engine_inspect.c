/* A module's header and sections.  The engine's validator is the oracle: what
 * it accepts, the reader must not refuse. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wasmtime.h>

#include "engine/inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static wasm_engine_t *engine(void)
{
	static wasm_engine_t *e;

	if (!e)
		e = wasm_engine_new();
	return e;
}

static void check_words(wasmtime_error_t *error)
{
	wasm_byte_vec_t m;
	char text[512];

	wasmtime_error_message(error, &m);
	snprintf(text, sizeof(text), "%.*s", (int)m.size, m.data);
	(void)inspect_feature(text);
	wasm_byte_vec_delete(&m);
	wasmtime_error_delete(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redoma_error err = {0};
	int rc = inspect_module(data, size, &err);
	wasmtime_error_t *error =
		wasmtime_module_validate(engine(), data, size);

	if (rc && (rc != REDOMA_E_INVALID || !err.text[0] || !error))
		abort();
	if (error)
		check_words(error);
	return 0;
}

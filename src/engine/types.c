#include "engine/types.h"

#include <string.h>

char types_letter(const wasm_valtype_t *t)
{
	wasmtime_valtype_t v;
	char letter = '?';

	wasmtime_valtype_new(t, &v);
	switch (v.kind) {
	case WASMTIME_VALTYPE_KIND_I32:
		letter = 'i';
		break;
	case WASMTIME_VALTYPE_KIND_I64:
		letter = 'I';
		break;
	case WASMTIME_VALTYPE_KIND_F32:
		letter = 'f';
		break;
	case WASMTIME_VALTYPE_KIND_F64:
		letter = 'F';
		break;
	default:
		break;
	}
	wasmtime_valtype_delete(&v);
	return letter;
}

bool types_are_numbers(const wasm_valtype_vec_t *v)
{
	for (size_t i = 0; i < v->size; i++)
		if (types_letter(v->data[i]) == '?')
			return false;
	return true;
}

bool types_are(const wasm_valtype_vec_t *v, const char *letters)
{
	if (v->size != strlen(letters))
		return false;
	for (size_t i = 0; i < v->size; i++)
		if (types_letter(v->data[i]) != letters[i])
			return false;
	return true;
}

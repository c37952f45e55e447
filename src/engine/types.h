/* engine/types.h - the types of a module's functions.
 *
 * Never wasm_valtype_kind on what a module declares: it aborts the process on
 * vectors and most references. */
#ifndef ENGINE_TYPES_H
#define ENGINE_TYPES_H

#include <stdbool.h>
#include <wasmtime.h>

/* 'i' 'I' 'f' 'F' for i32 i64 f32 f64; '?' for anything that is no number. */
char types_letter(const wasm_valtype_t *t);
bool types_are_numbers(const wasm_valtype_vec_t *v);
/* Exactly these letters. */
bool types_are(const wasm_valtype_vec_t *v, const char *letters);

#endif

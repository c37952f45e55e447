#include "engine/module.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/state.h"
#include "engine/types.h"
#include "wasi/wasi.h"

#define WHERE "engine"
#define WASI_MODULE "wasi_snapshot_preview1"

/* Of what the engine says of a feature, its name alone: "avx512f". */
static bool find_feature(const char *text, char *name, size_t size)
{
	static const char before[] = "compilation setting \"has_";
	const char *at = strstr(text, before);
	size_t n;

	if (!at)
		return false;
	at += sizeof(before) - 1;
	n = strcspn(at, "\"");
	if (n >= size)
		return false;
	memcpy(name, at, n);
	name[n] = 0;
	return true;
}

/* A sentence that goes on from the image's name. */
static int unfit(wasmtime_error_t *error, struct redoma_error *err)
{
	char text[300], name[24];

	engine_error_text(error, text, sizeof(text));
	if (find_feature(text, name, sizeof(name)))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "needs %s, which this CPU lacks", name);
	return err_set(err, REDOMA_E_INVALID, WHERE, "does not load: %.190s",
		       text);
}

static int check_empty(const struct engine *e, struct redoma_error *err)
{
	if (!e->module)
		return 0;
	return err_set(err, REDOMA_E_BUSY, WHERE,
		       "this engine has a module already");
}

int module_load_file(struct engine *e, int fd, struct redoma_error *err)
{
	wasmtime_module_t *m = NULL;
	char path[32];
	wasmtime_error_t *error;
	int rc = check_empty(e, err);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = wasmtime_module_deserialize_file(e->wasm, path, &m);
	if (error)
		return unfit(error, err);
	e->module = m;
	return 0;
}

int module_load_bytes(struct engine *e, const void *p, size_t n,
		      struct redoma_error *err)
{
	wasmtime_module_t *m = NULL;
	int rc = check_empty(e, err);
	wasmtime_error_t *error;

	if (rc)
		return rc;
	error = wasmtime_module_deserialize(e->wasm, p, n, &m);
	if (error)
		return engine_error(err, REDOMA_E_INVALID,
				    "cannot load the compiled module", error);
	e->module = m;
	return 0;
}

/* A list of names in a fixed room: what does not fit is counted. */
struct names {
	char text[150];
	size_t at;
	size_t more;
};

static void add_name(struct names *n, const char *a, const char *b)
{
	char one[100];
	int len = snprintf(one, sizeof(one), "%s%.40s%s%.40s",
			   n->at ? ", " : "", a, *a ? "." : "", b);

	for (int i = 0; i < len; i++)
		if ((unsigned char)one[i] < ' ' || one[i] == 127)
			one[i] = '?';
	if (len < 0 || (size_t)len >= sizeof(n->text) - n->at || n->more) {
		n->more++;
		return;
	}
	memcpy(n->text + n->at, one, (size_t)len + 1);
	n->at += (size_t)len;
}

static const char *add_count(struct names *n, char *tail, size_t size)
{
	tail[0] = 0;
	if (n->more)
		snprintf(tail, size, " and %zu more", n->more);
	return tail;
}

static bool name_is(const wasm_name_t *n, const char *s)
{
	return n->size == strlen(s) && !memcmp(n->data, s, n->size);
}

static void name_copy(const wasm_name_t *n, char *s, size_t size)
{
	size_t len = n->size < size ? n->size : size - 1;

	memcpy(s, n->data, len);
	s[len] = 0;
}

static bool of_threads(const wasm_importtype_t *i)
{
	const wasm_externtype_t *t = wasm_importtype_type(i);

	if (name_is(wasm_importtype_module(i), "wasi") &&
	    name_is(wasm_importtype_name(i), "thread-spawn"))
		return true;
	return wasm_externtype_kind(t) == WASM_EXTERN_MEMORY &&
	       wasmtime_memorytype_isshared(
		       wasm_externtype_as_memorytype_const(t));
}

/* Is it defined on the linker?  Its type is compared by instantiate_pre. */
static bool is_known(const struct engine *e, wasmtime_context_t *ctx,
		     const wasm_importtype_t *i)
{
	const wasm_name_t *m = wasm_importtype_module(i);
	const wasm_name_t *n = wasm_importtype_name(i);
	wasmtime_extern_t item;

	if (!wasmtime_linker_get(e->linker, ctx, m->data, m->size, n->data,
				 n->size, &item))
		return false;
	wasmtime_extern_delete(&item);
	return true;
}

static int check_import(const struct engine *e, wasmtime_context_t *ctx,
			const wasm_importtype_t *i, struct names *missing,
			struct redoma_error *err)
{
	char module[64], name[64];

	if (of_threads(i))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module is built for threads, which are "
			       "off here; build it without -pthread");
	if (name_is(wasm_importtype_module(i), "wasi_unstable"))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module imports wasi_unstable, a draft from "
			       "2019; rebuild it for " WASI_MODULE
			       " (any SDK since 2020)");
	if (is_known(e, ctx, i))
		return 0;
	name_copy(wasm_importtype_module(i), module, sizeof(module));
	name_copy(wasm_importtype_name(i), name, sizeof(name));
	add_name(missing, module, name);
	return 0;
}

static int check_imports(const struct engine *e, wasmtime_context_t *ctx,
			 const wasm_importtype_vec_t *imports,
			 struct redoma_error *err)
{
	struct names missing = {0};
	char tail[32];

	for (size_t k = 0; k < imports->size; k++) {
		int rc = check_import(e, ctx, imports->data[k], &missing, err);

		if (rc)
			return rc;
	}
	if (!missing.at && !missing.more)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "unknown imports: %s%s; there is only " WASI_MODULE
		       " and redoma",
		       missing.text, add_count(&missing, tail, sizeof(tail)));
}

static const wasm_functype_t *export_func(const wasm_exporttype_t *x)
{
	const wasm_externtype_t *t = wasm_exporttype_type(x);

	return wasm_externtype_kind(t) == WASM_EXTERN_FUNC
		       ? wasm_externtype_as_functype_const(t)
		       : NULL;
}

static const wasm_functype_t *find_func(const wasm_exporttype_vec_t *exports,
					const char *name)
{
	for (size_t k = 0; k < exports->size; k++)
		if (name_is(wasm_exporttype_name(exports->data[k]), name))
			return export_func(exports->data[k]);
	return NULL;
}

static bool is_plain(const wasm_functype_t *f)
{
	return f && !wasm_functype_params(f)->size &&
	       !wasm_functype_results(f)->size;
}

/* Calls are made without a check of types, so these are checked here. */
static int read_entries(struct engine *e, struct redoma_error *err)
{
	CLEANUP(wasm_exporttype_vec_delete) wasm_exporttype_vec_t exports;
	const wasm_functype_t *init;

	wasmtime_module_exports(e->module, &exports);
	init = find_func(&exports, "_initialize");
	if (init && !is_plain(init))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "_initialize has parameters or results; a "
			       "reactor's has none");
	e->has_init = init != NULL;
	e->has_start = is_plain(find_func(&exports, "_start"));
	return 0;
}

/* WASI reads and writes the memory exported under this name. */
static int check_memory(const struct engine *e,
			const wasm_importtype_vec_t *imports,
			struct redoma_error *err)
{
	CLEANUP(wasm_exporttype_vec_delete) wasm_exporttype_vec_t exports;

	wasmtime_module_exports(e->module, &exports);
	for (size_t k = 0; k < exports.size; k++)
		if (name_is(wasm_exporttype_name(exports.data[k]), "memory") &&
		    wasm_externtype_kind(wasm_exporttype_type(
			    exports.data[k])) == WASM_EXTERN_MEMORY)
			return 0;
	if (!imports->size)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the module imports WASI and does not export its memory "
		       "as \"memory\"; link it with --export-memory");
}

static int resolve(struct engine *e, struct redoma_error *err)
{
	wasmtime_error_t *error;
	wasmtime_store_t *s;
	CLEANUP(wasm_importtype_vec_delete) wasm_importtype_vec_t imports;
	int rc;

	wasmtime_module_imports(e->module, &imports);
	s = wasmtime_store_new(e->wasm, NULL, NULL);
	rc = check_imports(e, wasmtime_store_context(s), &imports, err);
	wasmtime_store_delete(s);
	if (!rc)
		rc = check_memory(e, &imports, err);
	if (!rc)
		rc = read_entries(e, err);
	if (rc)
		return rc;
	error = wasmtime_linker_instantiate_pre(e->linker, e->module, &e->pre);
	if (error)
		return engine_error(err, REDOMA_E_INVALID,
				    "the module's imports do not fit", error);
	return 0;
}

int module_link(struct engine *e, struct wasi *w, struct redoma_error *err)
{
	int rc;

	if (!e->module || e->linker)
		return err_set(err, REDOMA_E_BUSY, WHERE,
			       e->linker ? "the module is linked already"
					 : "there is no module to link");
	e->linker = wasmtime_linker_new(e->wasm);
	rc = w ? wasi_link(w, e->linker, err) : 0;
	if (!rc)
		rc = resolve(e, err);
	if (rc) {
		wasmtime_linker_delete(e->linker);
		e->linker = NULL;
		return rc;
	}
	e->wasi = w;
	return 0;
}

/* The functions there are.  Those that toolchains add begin with "_" and are
 * left out, unless nothing else can be called. */
static void list_exports(const wasm_exporttype_vec_t *exports, bool all,
			 struct names *ret)
{
	char name[64];

	for (size_t k = 0; k < exports->size; k++) {
		if (!export_func(exports->data[k]))
			continue;
		name_copy(wasm_exporttype_name(exports->data[k]), name,
			  sizeof(name));
		if (all || name[0] != '_')
			add_name(ret, "", name);
	}
	if (!all && !ret->at)
		list_exports(exports, true, ret);
}

static int no_entry(const wasm_exporttype_vec_t *exports, const char *invoke,
		    struct redoma_error *err)
{
	struct names have = {0};
	char tail[32];

	list_exports(exports, false, &have);
	if (invoke && !have.at)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no exported function \"%.40s\": the module "
			       "exports no function at all",
			       invoke);
	if (invoke)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no exported function \"%.40s\" (exports: %s%s)",
			       invoke, have.text,
			       add_count(&have, tail, sizeof(tail)));
	if (!have.at)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "no command entry (_start), and no other "
			       "function is exported: there is nothing to run");
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "no command entry (_start); call an export with "
		       "--invoke NAME (exports: %s%s)",
		       have.text, add_count(&have, tail, sizeof(tail)));
}

static int check_func(const wasm_functype_t *f, const char *name, size_t n_args,
		      struct redoma_error *err)
{
	const wasm_valtype_vec_t *params = wasm_functype_params(f);
	const wasm_valtype_vec_t *results = wasm_functype_results(f);

	if (!types_are_numbers(params) || !types_are_numbers(results))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "\"%.40s\" takes or returns vectors or "
			       "references; only numbers can be passed",
			       name);
	if (params->size == n_args)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "\"%.40s\" takes %zu arguments, %zu were given", name,
		       params->size, n_args);
}

int module_entry(const struct engine *e, const char *invoke, size_t n_args,
		 struct redoma_error *err)
{
	CLEANUP(wasm_exporttype_vec_delete) wasm_exporttype_vec_t exports;
	const wasm_functype_t *f;

	wasmtime_module_exports(e->module, &exports);
	f = find_func(&exports, invoke ? invoke : "_start");
	if (!f)
		return no_entry(&exports, invoke, err);
	if (invoke)
		return check_func(f, invoke, n_args, err);
	if (!is_plain(f))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "_start has parameters or results, so it is no "
			       "command; call it with --invoke _start");
	return 0;
}

bool module_has(const struct engine *e, const char *name, const char *params,
		const char *results)
{
	CLEANUP(wasm_exporttype_vec_delete) wasm_exporttype_vec_t exports;
	const wasm_functype_t *f;

	wasmtime_module_exports(e->module, &exports);
	f = find_func(&exports, name);
	return f && types_are(wasm_functype_params(f), params) &&
	       types_are(wasm_functype_results(f), results);
}

uint64_t module_memory_bytes(const struct engine *e)
{
	CLEANUP(wasm_exporttype_vec_delete) wasm_exporttype_vec_t exports;

	wasmtime_module_exports(e->module, &exports);
	for (size_t k = 0; k < exports.size; k++) {
		const wasm_externtype_t *t =
			wasm_exporttype_type(exports.data[k]);

		if (name_is(wasm_exporttype_name(exports.data[k]), "memory") &&
		    wasm_externtype_kind(t) == WASM_EXTERN_MEMORY)
			return wasmtime_memorytype_minimum(
				       wasm_externtype_as_memorytype_const(t)) *
			       65536;
	}
	return 0;
}

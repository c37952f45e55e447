#include "engine/compile.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/cleanup.h"
#include "engine/config.h"
#include "engine/inspect.h"
#include "engine/state.h"

#define WHERE "compiler"

static void delete_engine(wasm_engine_t **e)
{
	if (*e)
		wasm_engine_delete(*e);
}

static void set_opt_level(wasm_config_t *c, size_t level)
{
	wasmtime_config_cranelift_opt_level_set(c, (uint8_t)level);
}

static const struct config_row rows[] = {
	{"opt-level", .by = CONFIG_BY_HASTE,
	 .value = {WASMTIME_OPT_LEVEL_SPEED, WASMTIME_OPT_LEVEL_NONE},
	 .size = set_opt_level},
	{"debug-verifier",
	 .flag = wasmtime_config_cranelift_debug_verifier_set},
	{"nan-canonicalization",
	 .flag = wasmtime_config_cranelift_nan_canonicalization_set},
	{"native-unwind-info", .flag = wasmtime_config_native_unwind_info_set},
};

/* A target that is named has none of this CPU's features until they are. */
static bool aim(wasm_config_t *c, const struct config_choice *how)
{
	struct utsname here;
	char triple[128];
	wasmtime_error_t *error;

	if (!how->cpu)
		return true;
	if (uname(&here))
		return false;
	snprintf(triple, sizeof(triple), "%s-unknown-linux-gnu", here.machine);
	error = wasmtime_config_target_set(c, triple);
	if (error) {
		wasmtime_error_delete(error);
		return false;
	}
	for (const char *const *f = how->cpu->flags; *f; f++)
		wasmtime_config_cranelift_flag_enable(c, *f);
	return true;
}

const struct config_table config_compiler = {CONFIG_ROWS(rows), .aim = aim};

static int check_machine(const struct cpu *cpu, struct redoma_error *err)
{
	struct utsname here;

	if (!cpu || !cpu->machine)
		return 0;
	if (uname(&here))
		return err_sys(err, WHERE, "ask what machine this is");
	if (!strcmp(here.machine, cpu->machine))
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s is a level of %s and this machine is %s: name "
		       "\"native\" or \"baseline\"",
		       cpu->name, cpu->machine, here.machine);
}

/* What the validator said, without who called it: the words after the last of
 * these. */
static const char *last_cause(const char *text)
{
	static const char *const words[] = {"Invalid input WebAssembly code ",
					    "Caused by: "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *next = strstr(text, words[i]);

		for (; next; next = strstr(text, words[i]))
			text = next + strlen(words[i]);
	}
	return text;
}

static int invalid(struct redoma_error *err, wasmtime_error_t *error)
{
	char room[600];
	const char *text, *feature;

	engine_error_text(error, room, sizeof(room));
	text = last_cause(room);
	feature = inspect_feature(text);
	if (feature)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the module needs %s, which is off here: %.120s",
			       feature, text);
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "not a valid module: %.190s", text);
}

static int keep(const wasm_byte_vec_t *artefact, struct buf *out,
		struct redoma_error *err)
{
	if (artefact->size > COMPILE_OUTPUT_MAX)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "the compiled module has %zu MiB, at most %zu "
			       "are allowed",
			       artefact->size >> 20, COMPILE_OUTPUT_MAX >> 20);
	if (buf_add(out, artefact->data, artefact->size))
		return err_nomem(err, WHERE);
	return 0;
}

int compile_module_bytes(enum profile profile, const void *wasm,
			 size_t len, struct buf *out, struct redoma_error *err)
{
	return compile_for_cpu(profile, NULL, (struct str){wasm, len}, out,
			       err);
}

int compile_for_cpu(enum profile profile, const struct cpu *cpu,
		    struct str wasm, struct buf *out, struct redoma_error *err)
{
	CLEANUP(delete_engine) wasm_engine_t *e = NULL;
	CLEANUP(wasm_byte_vec_delete) wasm_byte_vec_t artefact = {0};
	wasmtime_error_t *error;
	int rc = inspect_module(wasm.p, wasm.len, err);

	if (!rc)
		rc = check_machine(cpu, err);
	if (rc)
		return rc;
	e = config_engine(&config_compiler,
			  &(struct config_choice){.profile = profile,
						  .cpu = cpu});
	error = rd_precompile(e, (const uint8_t *)wasm.p, wasm.len, &artefact);
	if (error)
		return invalid(err, error);
	return keep(&artefact, out, err);
}

int compile_known(enum profile profile, bool quick, struct str wasm,
		  struct buf *out, struct redoma_error *err)
{
	CLEANUP(delete_engine) wasm_engine_t *e = config_engine(
		&config_compiler, &(struct config_choice){.profile = profile,
							  .quick = quick});
	CLEANUP(wasm_byte_vec_delete) wasm_byte_vec_t artefact = {0};
	wasmtime_error_t *error = rd_precompile(
		e, (const uint8_t *)wasm.p, wasm.len, &artefact);

	if (error)
		return invalid(err, error);
	return buf_add(out, artefact.data, artefact.size)
		       ? err_nomem(err, WHERE) : 0;
}

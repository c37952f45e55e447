/* snapshot IN.wasm OUT.wasm - runs a language image's set-up once and writes
 * the module that starts where it ended.
 *
 * The set-up is _initialize (if exported) and redoma_init, with imports that
 * trap: nothing of the builder's machine can enter an image.  Only what is
 * written to standard error is shown, so that a set-up that fails can say why.
 * Only linear memory may differ afterwards, so a module that could change
 * anything else (another mutable global, a table, a segment) is refused; a
 * reset of memory is then a reset of everything.  The output depends on the
 * input alone. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasm.h>
#include <wasmtime.h>
#include "freeze/code.h"

#define FILE_MAX ((size_t)256 << 20)
#define PAGE 65536
#define RUN_GAP 64
#define RUNS_MAX 10000

enum section {
	SECTION_CUSTOM,
	SECTION_TYPE,
	SECTION_IMPORT,
	SECTION_FUNCTION,
	SECTION_TABLE,
	SECTION_MEMORY,
	SECTION_GLOBAL,
	SECTION_EXPORT,
	SECTION_START,
	SECTION_ELEMENT,
	SECTION_CODE,
	SECTION_DATA,
	SECTION_DATA_COUNT,
	SECTION_TAG,
};

struct bytes {
	uint8_t *p;
	size_t len, cap;
};

struct run {
	size_t from, to;
};

struct image {
	const uint8_t *memory;
	size_t memory_len;
	struct run *runs;
	size_t n_runs;
};

_Noreturn static void fail(const char *text)
{
	fprintf(stderr, "snapshot: %s\n", text);
	exit(1);
}

/* ---- writing ---- */

static void put(struct bytes *b, const void *p, size_t n)
{
	if (n > b->cap - b->len) {
		b->cap = (b->len + n) * 2;
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			fail("out of memory");
	}
	if (n)
		memcpy(b->p + b->len, p, n);
	b->len += n;
}

static void put_u32(struct bytes *b, uint64_t v)
{
	do {
		uint8_t c = v & 127;

		v >>= 7;
		c |= v ? 128 : 0;
		put(b, &c, 1);
	} while (v);
}

static void put_s32(struct bytes *b, int32_t v)
{
	for (;;) {
		uint8_t c = v & 127;
		bool last;

		v >>= 7;
		last = (v == 0 && !(c & 64)) || (v == -1 && (c & 64));
		c |= last ? 0 : 128;
		put(b, &c, 1);
		if (last)
			return;
	}
}

static void put_section(struct bytes *out, uint8_t id, const void *p, size_t n)
{
	put(out, &id, 1);
	put_u32(out, n);
	put(out, p, n);
}

/* ---- running the set-up ---- */

static void check(wasmtime_error_t *error, wasm_trap_t *trap, const char *what)
{
	wasm_byte_vec_t text;

	if (!error && !trap)
		return;
	if (error)
		wasmtime_error_message(error, &text);
	else
		wasm_trap_message(trap, &text);
	fprintf(stderr, "snapshot: %s: %.*s\n", what, (int)text.size,
		text.data);
	exit(1);
}

struct session {
	wasmtime_store_t *store;
	wasmtime_context_t *ctx;
	wasmtime_instance_t instance;
};

static bool lookup(struct session *s, const char *name,
		   wasmtime_extern_t *ret)
{
	return wasmtime_instance_export_get(s->ctx, &s->instance, name,
					    strlen(name), ret);
}

static bool call(struct session *s, const char *name)
{
	wasmtime_extern_t item;
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;

	if (!lookup(s, name, &item) || item.kind != WASMTIME_EXTERN_FUNC)
		return false;
	error = wasmtime_func_call(s->ctx, &item.of.func, NULL, 0, NULL, 0,
				   &trap);
	check(error, trap, name);
	return true;
}

static int32_t stack_pointer(struct session *s)
{
	wasmtime_extern_t item;
	wasmtime_val_t v;

	if (!lookup(s, "__stack_pointer", &item) ||
	    item.kind != WASMTIME_EXTERN_GLOBAL)
		fail("the module does not export __stack_pointer; link it "
		     "with --export=__stack_pointer");
	wasmtime_global_get(s->ctx, &item.of.global, &v);
	if (v.kind != WASMTIME_I32)
		fail("__stack_pointer is not an i32");
	return v.of.i32;
}

/* fd_write of WASI preview 1, for descriptor 2: (fd, iovs, n, ret) -> errno */
static wasm_trap_t *show(void *env, wasmtime_caller_t *caller,
			 wasmtime_val_raw_t *a, size_t n)
{
	wasmtime_context_t *ctx = wasmtime_caller_context(caller);
	wasmtime_extern_t m;
	uint32_t at = (uint32_t)a[1].i32, count = (uint32_t)a[2].i32;
	uint32_t done = 0, span[2];
	uint8_t *p;
	size_t len;

	(void)env;
	(void)n;
	if (!wasmtime_caller_export_get(caller, "memory", 6, &m))
		fail("the module does not export a memory named memory");
	p = wasmtime_memory_data(ctx, &m.of.memory);
	len = wasmtime_memory_data_size(ctx, &m.of.memory);
	for (; count--; at += 8) {
		if (at > len - 8)
			fail("the set-up wrote from outside its memory");
		memcpy(span, p + at, 8);
		if (span[0] > len || span[1] > len - span[0])
			fail("the set-up wrote from outside its memory");
		fwrite(p + span[0], 1, span[1], stderr);
		done += span[1];
	}
	if (done && a[0].i32 != 2)
		fail("the set-up wrote, and not to standard error");
	memcpy(p + (uint32_t)a[3].i32 % (len - 4), &done, 4);
	a[0].i32 = 0;
	return NULL;
}

static void link_show(wasmtime_linker_t *linker)
{
	wasm_valtype_t *in[4], *out[1] = { wasm_valtype_new_i32() };
	wasm_valtype_vec_t params, results;
	wasm_functype_t *type;

	for (int i = 0; i < 4; i++)
		in[i] = wasm_valtype_new_i32();
	wasm_valtype_vec_new(&params, 4, in);
	wasm_valtype_vec_new(&results, 1, out);
	type = wasm_functype_new(&params, &results);
	check(wasmtime_linker_define_func_unchecked(
		      linker, "wasi_snapshot_preview1", 22, "fd_write", 8,
		      type, show, NULL, NULL),
	      NULL, "fd_write");
	wasm_functype_delete(type);
}

static void start(struct session *s, const uint8_t *p, size_t n)
{
	wasm_config_t *config = wasm_config_new();
	wasm_engine_t *engine;
	wasmtime_linker_t *linker;
	wasmtime_module_t *module;
	wasm_trap_t *trap = NULL;
	wasmtime_error_t *error;

	wasmtime_config_max_wasm_stack_set(config, (size_t)1 << 20);
	engine = wasm_engine_new_with_config(config);
	if (!engine)
		fail("the engine cannot start");
	check(wasmtime_module_new(engine, p, n, &module), NULL, "compile");
	s->store = wasmtime_store_new(engine, NULL, NULL);
	s->ctx = wasmtime_store_context(s->store);
	linker = wasmtime_linker_new(engine);
	link_show(linker);
	check(wasmtime_linker_define_unknown_imports_as_traps(linker, module),
	      NULL, "imports");
	error = wasmtime_linker_instantiate(linker, s->ctx, module,
					    &s->instance, &trap);
	check(error, trap, "instantiate");
}

static void set_up(struct session *s, struct image *ret)
{
	wasmtime_extern_t memory;
	int32_t sp = stack_pointer(s);

	call(s, "_initialize");
	if (!call(s, "redoma_init"))
		fail("the module does not export the function redoma_init");
	if (stack_pointer(s) != sp)
		fail("the stack pointer is not back at its initial value "
		     "after redoma_init");
	if (!lookup(s, "memory", &memory) ||
	    memory.kind != WASMTIME_EXTERN_MEMORY)
		fail("the module does not export a memory named memory");
	ret->memory = wasmtime_memory_data(s->ctx, &memory.of.memory);
	ret->memory_len = wasmtime_memory_data_size(s->ctx, &memory.of.memory);
}

/* ---- memory to segments ---- */

static size_t find_runs(struct image *m, size_t gap)
{
	size_t n = 0, i = 0;

	while (i < m->memory_len) {
		size_t last;

		if (!m->memory[i]) {
			i++;
			continue;
		}
		last = i;
		for (size_t j = i; j < m->memory_len && j - last <= gap; j++)
			if (m->memory[j])
				last = j;
		if (n < RUNS_MAX)
			m->runs[n] = (struct run){ i, last + 1 };
		n++;
		i = last + 1;
	}
	return n;
}

static void segment(struct image *m)
{
	size_t gap = RUN_GAP;

	m->runs = calloc(RUNS_MAX, sizeof(*m->runs));
	if (!m->runs)
		fail("out of memory");
	while ((m->n_runs = find_runs(m, gap)) > RUNS_MAX)
		gap *= 2;
}

static void put_data(struct bytes *out, const struct image *m)
{
	struct bytes b = { 0 };

	put_u32(&b, m->n_runs);
	for (size_t i = 0; i < m->n_runs; i++) {
		const struct run *r = &m->runs[i];
		static const uint8_t i32_const = 0x41, end = 0x0b;

		put_u32(&b, 0);
		put(&b, &i32_const, 1);
		put_s32(&b, (int32_t)r->from);
		put(&b, &end, 1);
		put_u32(&b, r->to - r->from);
		put(&b, m->memory + r->from, r->to - r->from);
	}
	put_section(out, SECTION_DATA, b.p, b.len);
	free(b.p);
}

/* ---- rewriting the sections ---- */

static void check_reader(const struct code_reader *r)
{
	if (r->wrong)
		fail(r->wrong);
}

static void check_imports(struct code_reader r)
{
	uint32_t n = code_u32(&r);

	while (n-- && !r.wrong) {
		code_skip(&r, code_u32(&r));
		code_skip(&r, code_u32(&r));
		if (code_byte(&r) != 0)
			fail("the module imports something that is no "
			     "function");
		code_u32(&r);
	}
	check_reader(&r);
}

/* Index of the exported __stack_pointer; UINT32_MAX if there is none. */
static uint32_t stack_global(struct code_reader r)
{
	uint32_t n = code_u32(&r);

	while (n-- && !r.wrong) {
		uint32_t len = code_u32(&r), index;
		const uint8_t *name = code_skip(&r, len);
		uint8_t kind = code_byte(&r);

		index = code_u32(&r);
		if (name && kind == 3 && len == 15 &&
		    !memcmp(name, "__stack_pointer", 15))
			return index;
	}
	return UINT32_MAX;
}

static void check_globals(struct code_reader r, uint32_t sp)
{
	uint32_t n = code_u32(&r);

	for (uint32_t i = 0; i < n && !r.wrong; i++) {
		code_byte(&r);
		if (code_byte(&r) && i != sp)
			fail("the module has a mutable global besides the "
			     "stack pointer; a reset of memory would not "
			     "reset it");
		code_expression(&r);
	}
	check_reader(&r);
}

static void put_memory(struct bytes *out, struct code_reader r,
		       const struct image *m)
{
	struct bytes b = { 0 };
	uint32_t flags;

	if (code_u32(&r) != 1)
		fail("the module must have exactly one memory");
	flags = code_u32(&r);
	if (flags > 1)
		fail("the memory is shared or 64-bit");
	code_u32(&r);
	put_u32(&b, 1);
	put_u32(&b, flags);
	put_u32(&b, m->memory_len / PAGE);
	if (flags)
		put_u32(&b, code_u32(&r));
	put_section(out, SECTION_MEMORY, b.p, b.len);
	free(b.p);
}

static bool is_dropped(const uint8_t *name, uint32_t len)
{
	static const char *const names[] = { "_initialize", "redoma_init",
					     "__stack_pointer" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

static void put_exports(struct bytes *out, struct code_reader r)
{
	struct bytes b = { 0 }, all = { 0 };
	uint32_t n = code_u32(&r), kept = 0;

	while (n-- && !r.wrong) {
		const uint8_t *from = r.p;
		uint32_t len = code_u32(&r);
		const uint8_t *name = code_skip(&r, len);

		code_byte(&r);
		code_u32(&r);
		if (is_dropped(name, len))
			continue;
		put(&b, from, (size_t)(r.p - from));
		kept++;
	}
	put_u32(&all, kept);
	put(&all, b.p, b.len);
	put_section(out, SECTION_EXPORT, all.p, all.len);
	free(b.p);
	free(all.p);
}

static bool next_section(struct code_reader *r, uint8_t *id,
			 struct code_reader *body)
{
	uint32_t len;

	if (r->p == r->end)
		return false;
	*id = code_byte(r);
	len = code_u32(r);
	*body = (struct code_reader){.p = code_skip(r, len)};
	body->end = r->p;
	check_reader(r);
	return true;
}

static struct code_reader open_module(const struct bytes *in)
{
	struct code_reader r = { in->p, in->p + in->len, NULL };

	if (in->len < 8 || memcmp(in->p, "\0asm\1\0\0\0", 8))
		fail("the input is not a core WebAssembly module");
	r.p += 8;
	return r;
}

static void check_code(struct code_reader section)
{
	const char *wrong = code_check(section);

	if (wrong)
		fail(wrong);
}

static void inspect(const struct bytes *in)
{
	struct code_reader r = open_module(in), body;
	uint32_t sp = UINT32_MAX;
	uint8_t id;

	for (struct code_reader s = r; next_section(&s, &id, &body);)
		if (id == SECTION_EXPORT)
			sp = stack_global(body);
	while (next_section(&r, &id, &body)) {
		if (id == SECTION_IMPORT)
			check_imports(body);
		else if (id == SECTION_GLOBAL)
			check_globals(body, sp);
		else if (id == SECTION_CODE)
			check_code(body);
		else if (id > SECTION_TAG)
			fail("the module has an unknown section");
	}
}

static void rewrite(const struct bytes *in, const struct image *m,
		    struct bytes *out)
{
	struct code_reader r = open_module(in), body;
	bool data = false;
	uint8_t id;

	put(out, in->p, 8);
	while (next_section(&r, &id, &body)) {
		struct bytes count = { 0 };

		switch (id) {
		case SECTION_CUSTOM:
		case SECTION_START:
			break;
		case SECTION_MEMORY:
			put_memory(out, body, m);
			break;
		case SECTION_EXPORT:
			put_exports(out, body);
			break;
		case SECTION_DATA_COUNT:
			put_u32(&count, m->n_runs);
			put_section(out, id, count.p, count.len);
			free(count.p);
			break;
		case SECTION_DATA:
			put_data(out, m);
			data = true;
			break;
		default:
			put_section(out, id, body.p,
				    (size_t)(body.end - body.p));
		}
	}
	if (!data)
		put_data(out, m);
}

/* ---- files ---- */

static void read_file(const char *path, struct bytes *ret)
{
	FILE *f = fopen(path, "rb");
	char buffer[65536];
	size_t n;

	if (!f)
		fail("cannot open the input");
	while ((n = fread(buffer, 1, sizeof(buffer), f)) > 0) {
		if (ret->len > FILE_MAX - n)
			fail("the input is larger than 256 MiB");
		put(ret, buffer, n);
	}
	if (ferror(f))
		fail("cannot read the input");
	fclose(f);
}

static void write_file(const char *path, const struct bytes *b)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(b->p, 1, b->len, f) != b->len || fclose(f))
		fail("cannot write the output");
}

int main(int argc, char **argv)
{
	struct bytes in = { 0 }, out = { 0 };
	struct session s = { 0 };
	struct image m = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: snapshot IN.wasm OUT.wasm\n");
		return 2;
	}
	read_file(argv[1], &in);
	inspect(&in);
	start(&s, in.p, in.len);
	set_up(&s, &m);
	segment(&m);
	rewrite(&in, &m, &out);
	write_file(argv[2], &out);
	printf("snapshot: %zu pages of memory, %zu segments, %zu bytes\n",
	       m.memory_len / PAGE, m.n_runs, out.len);
	return 0;
}

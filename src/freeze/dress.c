#include "freeze/dress.h"

#include <string.h>

#include "base/cleanup.h"
#include "freeze/section.h"

#define WHERE "image"
#define I32 0x7f
#define OWN_TYPES 2
#define OWN_FUNCS 4
#define BIT(id) (1u << (id))
/* What is added to, or counted. */
#define NEEDED                                                            \
	(BIT(SECTION_TYPE) | BIT(SECTION_IMPORT) | BIT(SECTION_FUNCTION) |  \
	 BIT(SECTION_MEMORY) | BIT(SECTION_GLOBAL) | BIT(SECTION_EXPORT) |  \
	 BIT(SECTION_CODE) | BIT(SECTION_DATA))

/* What must be known of the module before it is written anew. */
struct facts {
	uint32_t types, imported, defined, pages;
	uint32_t alloc, turn; /* functions; UINT32_MAX: not exported */
	bool memory;
	uint32_t seen; /* bits of sections */
	uint32_t mail;
	const char *wrong;
};

enum own { OWN_WORD, OWN_RUN, OWN_RESULT, OWN_STACK };

static bool is(const uint8_t *p, uint32_t n, const char *s)
{
	return p && n == strlen(s) && !memcmp(p, s, n);
}

static void note(struct facts *f, const struct code_reader *r)
{
	if (r->wrong)
		f->wrong = r->wrong;
}

static void see_imports(struct facts *f, struct code_reader r)
{
	uint32_t n = code_u32(&r);

	while (n-- && !r.wrong) {
		code_skip(&r, code_u32(&r));
		code_skip(&r, code_u32(&r));
		if (code_byte(&r))
			f->wrong = "it imports something that is no function";
		code_u32(&r);
		f->imported++;
	}
	note(f, &r);
}

static void see_exports(struct facts *f, struct code_reader r)
{
	uint32_t n = code_u32(&r);

	while (n-- && !r.wrong) {
		uint32_t len = code_u32(&r);
		const uint8_t *name = code_skip(&r, len);
		uint8_t kind = code_byte(&r);
		uint32_t index = code_u32(&r);

		if (kind == 0 && is(name, len, "host_alloc"))
			f->alloc = index;
		if (kind == 0 && is(name, len, "turn"))
			f->turn = index;
		if (kind == 2 && is(name, len, "memory"))
			f->memory = true;
		if (kind == 1 || kind == 3)
			f->wrong = "it exports a table or a global";
	}
	note(f, &r);
}

/* Linkers put the stack pointer first. */
static void see_globals(struct facts *f, struct code_reader r)
{
	uint32_t n = code_u32(&r);

	for (uint32_t i = 0; i < n && !r.wrong; i++) {
		uint8_t type = code_byte(&r);

		if (code_byte(&r) ? i || type != I32 : !i)
			f->wrong = "it has a mutable global besides the stack "
				   "pointer; a reset of memory would not reset "
				   "it";
		code_expression(&r);
	}
	if (!n)
		f->wrong = "it has no stack pointer";
	note(f, &r);
}

static void see_memory(struct facts *f, struct code_reader r)
{
	if (code_u32(&r) != 1 || code_u32(&r) != 0)
		f->wrong = "it must have one memory without a maximum";
	f->pages = code_u32(&r);
	f->mail = f->pages * SECTION_PAGE;
	note(f, &r);
}

static void see(struct facts *f, uint8_t id, struct code_reader body)
{
	const char *wrong;

	f->seen |= BIT(id);
	switch (id) {
	case SECTION_TYPE:
		f->types = code_u32(&body);
		break;
	case SECTION_IMPORT:
		see_imports(f, body);
		break;
	case SECTION_FUNCTION:
		f->defined = code_u32(&body);
		break;
	case SECTION_MEMORY:
		see_memory(f, body);
		break;
	case SECTION_GLOBAL:
		see_globals(f, body);
		break;
	case SECTION_EXPORT:
		see_exports(f, body);
		break;
	case SECTION_START:
		f->wrong = "it has a start function";
		break;
	case SECTION_CODE:
		wrong = code_check(body);
		f->wrong = wrong ? wrong : f->wrong;
		break;
	default:
		break;
	}
}

static int look(struct str wasm, struct facts *f, struct redoma_error *err)
{
	struct code_reader r, body;
	uint8_t id;
	int rc = section_check(wasm, err);

	if (rc)
		return rc;
	*f = (struct facts){.alloc = UINT32_MAX, .turn = UINT32_MAX};
	for (r = section_first(wasm); section_next(&r, &id, &body);)
		see(f, id, body);
	if (!f->wrong && (f->seen & NEEDED) != NEEDED)
		f->wrong = "it lacks a section";
	if (!f->wrong && (f->alloc == UINT32_MAX || f->turn == UINT32_MAX ||
			  !f->memory))
		f->wrong = "it does not export host_alloc, turn and memory";
	if (!f->wrong && (!f->pages || f->pages > 65535 / 2))
		f->wrong = "its memory has no usable size";
	if (!f->wrong)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the module cannot become an image: %s", f->wrong);
}

/* A vector with n entries more, which the caller adds. */
static int put_more(struct buf *b, struct code_reader *r, uint32_t n)
{
	uint32_t have = code_u32(r);

	return put_u32(b, (uint64_t)have + n) ||
			       buf_add(b, r->p, (size_t)(r->end - r->p))
		       ? -1
		       : 0;
}

static int add_types(struct buf *b, struct code_reader r)
{
	/* () -> i32, and of redoma_run (i32 i32) -> i32 */
	static const uint8_t own[] = {0x60, 0, 1, I32, 0x60, 2, I32, I32, 1,
				      I32};

	return put_more(b, &r, OWN_TYPES) || buf_add(b, own, sizeof(own)) ? -1
									  : 0;
}

static int add_functions(struct buf *b, struct code_reader r,
			 const struct facts *f)
{
	if (put_more(b, &r, OWN_FUNCS))
		return -1;
	for (int i = 0; i < OWN_FUNCS; i++)
		if (put_u32(b, f->types + (i == OWN_RUN ? 1 : 0)))
			return -1;
	return 0;
}

static int put_export(struct buf *b, const char *name, uint32_t func)
{
	return put_u32(b, strlen(name)) || buf_add(b, name, strlen(name)) ||
			       buf_add(b, "", 1) || put_u32(b, func)
		       ? -1
		       : 0;
}

static int add_exports(struct buf *b, struct code_reader r,
		       const struct facts *f)
{
	uint32_t own = f->imported + f->defined;

	return put_more(b, &r, OWN_FUNCS + 1) ||
			       put_export(b, "redoma_alloc", f->alloc) ||
			       put_export(b, "redoma_interrupt_ptr",
					  own + OWN_WORD) ||
			       put_export(b, "redoma_run", own + OWN_RUN) ||
			       put_export(b, "redoma_result",
					  own + OWN_RESULT) ||
			       put_export(b, "redoma_stack", own + OWN_STACK)
		       ? -1
		       : 0;
}

static int put_const(struct buf *b, uint32_t v)
{
	return buf_add(b, "\x41", 1) || put_s32(b, (int32_t)v) ? -1 : 0;
}

/* mail[offset] = local */
static int put_store(struct buf *b, uint32_t mail, uint8_t local,
		     uint8_t offset)
{
	uint8_t code[] = {0x20, local, 0x36, 2, offset};

	return put_const(b, mail) || buf_add(b, code, sizeof(code)) ? -1 : 0;
}

static int put_run(struct buf *b, const struct facts *f, size_t line)
{
	return put_store(b, f->mail, 0, DRESS_AT) ||
			       put_store(b, f->mail, 1, DRESS_LEN) ||
			       put_const(b, f->mail + DRESS_LINE) ||
			       put_const(b, (uint32_t)line) ||
			       buf_add(b, "\x10", 1) || put_u32(b, f->turn) ||
			       buf_add(b, "\x1a", 1) || put_const(b, 0)
		       ? -1
		       : 0;
}

static int put_result(struct buf *b, const struct facts *f)
{
	static const uint8_t load[] = {0x28, 2, DRESS_RESULT};

	return put_const(b, f->mail) || buf_add(b, load, sizeof(load)) ? -1
								       : 0;
}

static int put_body(struct buf *b, const struct facts *f, int which,
		    size_t line)
{
	CLEANUP(buf_done) struct buf body = {0};
	int r = buf_add(&body, "", 1); /* no locals */

	if (!r && which == OWN_RUN)
		r = put_run(&body, f, line);
	else if (!r && which == OWN_WORD)
		r = put_const(&body, f->mail);
	else if (!r && which == OWN_RESULT)
		r = put_result(&body, f);
	else if (!r)
		r = buf_add(&body, "\x23\0", 2); /* global.get 0 */
	if (!r)
		r = buf_add(&body, "\x0b", 1);
	return r || put_u32(b, body.len) || buf_add(b, body.data, body.len)
		       ? -1
		       : 0;
}

static int add_code(struct buf *b, struct code_reader r, const struct facts *f,
		    size_t line)
{
	if (put_more(b, &r, OWN_FUNCS))
		return -1;
	for (int i = 0; i < OWN_FUNCS; i++)
		if (put_body(b, f, i, line))
			return -1;
	return 0;
}

static int add_data(struct buf *b, struct code_reader r, const struct facts *f,
		    struct str line)
{
	return put_more(b, &r, 1) || buf_add(b, "", 1) ||
			       put_const(b, f->mail + DRESS_LINE) ||
			       buf_add(b, "\x0b", 1) || put_u32(b, line.len) ||
			       buf_add(b, line.p, line.len)
		       ? -1
		       : 0;
}

static int put_name(struct buf *b, const char *s)
{
	return put_u32(b, strlen(s)) || buf_add(b, s, strlen(s)) ? -1 : 0;
}

static int put_imports(struct buf *b, struct code_reader r)
{
	uint32_t n = code_u32(&r);
	int bad = put_u32(b, n);

	while (n-- && !bad) {
		const uint8_t *from = r.p;
		uint32_t module_len = code_u32(&r), name_len;
		const uint8_t *module = code_skip(&r, module_len), *name;

		name_len = code_u32(&r);
		name = code_skip(&r, name_len);
		if (is(module, module_len, "host") &&
		    is(name, name_len, "call")) {
			bad = put_name(b, "redoma") || put_name(b, "ask");
			from = r.p;
		}
		code_byte(&r);
		code_u32(&r);
		bad = bad || buf_add(b, from, (size_t)(r.p - from));
	}
	return bad ? -1 : 0;
}

static int put_memory(struct buf *b, const struct facts *f)
{
	return put_u32(b, 1) || put_u32(b, 0) || put_u32(b, f->pages + 1) ? -1
									  : 0;
}

static int copy(struct buf *b, const struct code_reader *r)
{
	return buf_add(b, r->p, (size_t)(r->end - r->p));
}

static int rewrite(struct buf *out, uint8_t id, struct code_reader body,
		   const struct facts *f, struct str line)
{
	CLEANUP(buf_done) struct buf b = {0};
	int r;

	switch (id) {
	case SECTION_CUSTOM:
		return 0;
	case SECTION_TYPE:
		r = add_types(&b, body);
		break;
	case SECTION_IMPORT:
		r = put_imports(&b, body);
		break;
	case SECTION_FUNCTION:
		r = add_functions(&b, body, f);
		break;
	case SECTION_MEMORY:
		r = put_memory(&b, f);
		break;
	case SECTION_EXPORT:
		r = add_exports(&b, body, f);
		break;
	case SECTION_CODE:
		r = add_code(&b, body, f, line.len);
		break;
	case SECTION_DATA:
		r = add_data(&b, body, f, line);
		break;
	default:
		r = copy(&b, &body);
	}
	return r ? r : put_section(out, id, &b);
}

int dress_module(struct str wasm, struct str line, struct buf *out,
		 uint32_t *ret_mail, struct redoma_error *err)
{
	struct code_reader r, body;
	struct facts f;
	uint8_t id;
	int rc = look(wasm, &f, err);

	if (rc)
		return rc;
	rc = buf_add(out, wasm.p, 8);
	for (r = section_first(wasm); !rc && section_next(&r, &id, &body);)
		rc = rewrite(out, id, body, &f, line);
	if (rc)
		return err_nomem(err, WHERE);
	*ret_mail = f.mail;
	return 0;
}

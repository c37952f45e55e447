/* Stacks as text: the interpreter's frames to what a program sees. */
#include "stack.h"
#include <string.h>
#include "cutils.h"
#include "quick.h"

static void *grow(void *rt, void *p, size_t n)
{
	return js_realloc_rt(rt, p, n);
}

/* Parses "    at NAME (FILE:LINE:COL)" or "    at FILE:LINE:COL"; false for
 * the runtime's own frames and native ones. */
struct frame {
	const char *name, *place;
	size_t name_len, place_len;
	uint32_t line, column;
};

static uint32_t number_before(const char *begin, const char **end)
{
	const char *p = *end;
	uint32_t n = 0;

	while (p > begin && p[-1] >= '0' && p[-1] <= '9')
		p--;
	for (const char *q = p; q < *end && n < 100000000; q++)
		n = n * 10 + (uint32_t)(*q - '0');
	*end = p > begin ? p - 1 : p;
	return n;
}

static bool parse_frame(const char *p, const char *end, struct frame *f)
{
	const char *open;

	if (end - p < 7 || memcmp(p, "    at ", 7))
		return false;
	p += 7;
	*f = (struct frame){ 0 };
	if (end[-1] == ')') {
		for (open = end - 2; open > p && *open != '('; open--)
			;
		if (open <= p || open[-1] != ' ')
			return false;
		f->name = p;
		f->name_len = (size_t)(open - 1 - p);
		p = open + 1;
		end--;
	}
	f->place = p;
	f->place_len = (size_t)(end - p);
	f->column = number_before(p, &end);
	f->line = number_before(p, &end);
	if (!f->line || end <= p)
		return false;
	return !(f->place_len > 5 && !memcmp(p, "node:", 5));
}

static bool anonymous(const struct frame *f)
{
	return !f->name_len ||
	       (f->name_len == 11 && !memcmp(f->name, "<anonymous>", 11)) ||
	       (f->name_len == 6 && !memcmp(f->name, "<eval>", 6));
}

static void print_frames(struct DynBuf *d, const char *p, const char *end)
{
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct frame f;

		if (!nl)
			nl = end;
		if (parse_frame(p, nl, &f)) {
			dbuf_putstr(d, "\n    at ");
			if (!anonymous(&f)) {
				dbuf_put(d, (const uint8_t *)f.name,
					 f.name_len);
				dbuf_putstr(d, " (");
			}
			dbuf_put(d, (const uint8_t *)f.place, f.place_len);
			if (!anonymous(&f))
				dbuf_putc(d, ')');
		}
		p = nl + 1;
	}
}

/* "Name: message".  A getter for the name runs only where a program asked. */
static void print_header(JSContext *ctx, struct DynBuf *d, JSValueConst error,
			 bool getters)
{
	JSAtom atom_name = JS_NewAtom(ctx, "name");
	JSAtom atom_message = JS_NewAtom(ctx, "message");
	JSValue name = getters ? JS_GetProperty(ctx, error, atom_name) :
		quick_data_property(ctx, error, atom_name);
	JSValue msg = quick_data_property(ctx, error, atom_message);
	const char *n = JS_IsString(name) ? JS_ToCString(ctx, name) : NULL;
	const char *m = JS_IsString(msg) ? JS_ToCString(ctx, msg) : NULL;

	if (JS_IsException(name))
		JS_FreeValue(ctx, JS_GetException(ctx));
	dbuf_putstr(d, n ? n : "Error");
	if (m && *m) {
		dbuf_putstr(d, n && !*n ? "" : ": ");
		dbuf_putstr(d, m);
	}
	JS_FreeCString(ctx, n);
	JS_FreeCString(ctx, m);
	JS_FreeValue(ctx, name);
	JS_FreeValue(ctx, msg);
	JS_FreeAtom(ctx, atom_name);
	JS_FreeAtom(ctx, atom_message);
}

JSValue stack_clean(JSContext *ctx, JSValueConst error, JSValue raw,
		    bool getters)
{
	const char *s = NULL;
	JSValue ret;
	struct DynBuf d;
	size_t n;

	if (!JS_IsString(raw))
		return raw;
	s = JS_ToCStringLen(ctx, &n, raw);
	JS_FreeValue(ctx, raw);
	if (!s)
		return JS_EXCEPTION;
	dbuf_init2(&d, JS_GetRuntime(ctx), grow);
	print_header(ctx, &d, error, getters);
	print_frames(&d, s, s + n);
	JS_FreeCString(ctx, s);
	ret = dbuf_error(&d) ? JS_ThrowOutOfMemory(ctx) :
			       JS_NewStringLen(ctx, (char *)d.buf, d.size);
	dbuf_free(&d);
	return ret;
}

bool stack_is_raw(JSContext *ctx, JSValueConst v)
{
	const char *s;
	bool raw;

	if (!JS_IsString(v))
		return false;
	s = JS_ToCString(ctx, v);
	raw = s && (!*s || !strncmp(s, "    at ", 7));
	JS_FreeCString(ctx, s);
	return raw;
}

void quick_position(JSContext *ctx, JSValueConst error, uint32_t *ret_line,
		    uint32_t *ret_column)
{
	JSValue raw = quick_raw_stack(ctx, error);
	const char *s = JS_IsString(raw) ? JS_ToCString(ctx, raw) : NULL;

	*ret_line = *ret_column = 0;
	for (const char *p = s; p && *p;) {
		const char *nl = strchr(p, '\n');
		struct frame f;

		if (!nl)
			nl = p + strlen(p);
		if (parse_frame(p, nl, &f)) {
			*ret_line = f.line;
			*ret_column = f.column;
			break;
		}
		p = *nl ? nl + 1 : nl;
	}
	JS_FreeCString(ctx, s);
	JS_FreeValue(ctx, raw);
}

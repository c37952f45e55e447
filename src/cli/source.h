/* cli/source.h - the guest's code and its input, read and checked before
 * anything is started. */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"

#define SOURCE_SCRIPT_MAX ((size_t)1 << 20)
#define SOURCE_MODULE_MAX ((size_t)64 << 20)
#define SOURCE_INPUT_MAX ((size_t)64 << 20)

enum source_language {
	SOURCE_JS,
	SOURCE_WASM,
	SOURCE_PY,
	SOURCE_COMMAND /* no source: a native program */
};

struct source {
	enum source_language language;
	struct buf bytes;
};

/* NULL: SOURCE_COMMAND. */
const char *source_language_name(enum source_language l);

/* `path` is a file or "-" for standard input; `lang` is --lang's value or
 * NULL; native: by an interpreter of the host.  The language is told by the
 * module's first bytes, then by lang, the extension, the #! line.  Errors:
 * REDOMA_E_INVALID, where "cli" if the file or its language cannot be used,
 * where "source" if its bytes cannot. */
MUST_CHECK int source_read(const char *path, const char *lang, bool native,
			   struct source *ret, struct redoma_error *err);
/* A script given as text. */
MUST_CHECK int source_text(const char *text, enum source_language language,
			   struct source *ret, struct redoma_error *err);
void source_done(struct source *s);

/* --input: JSON text, "@FILE" or "-".  Must be JSON for a script; any bytes
 * for a module, whose standard input it is.  text: it is that of --stdin, for
 * a script a string. */
MUST_CHECK int source_input(const char *spec, bool text,
			    enum source_language l, struct buf *ret,
			    struct redoma_error *err);

#endif

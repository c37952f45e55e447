/* A call of a tool as a worker sends it: what is accepted has a name that ends,
 * and name and arguments are all that was sent. */
#include <stdlib.h>
#include <string.h>
#include "wire/tool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tool_call c;
	const char *text = (const char *)data + sizeof c.id;

	if (tool_call_decode(data, size, &c, NULL))
		return 0;
	if (c.name.p != text || c.name.len > TOOL_WORD_MAX ||
	    memchr(c.name.p, 0, c.name.len) || text[c.name.len] ||
	    c.args.p != text + c.name.len + 1 ||
	    sizeof c.id + c.name.len + 1 + c.args.len != size)
		abort();
	return 0;
}

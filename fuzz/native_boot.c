/* What a hostile payload says to init: no length of it is believed, and what is
 * passed on to the core is what an honest worker would send. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "native/boot.h"
#include "native/relay.h"

#define VALUE_MAX 64
#define IN_FLIGHT 2

enum { ASKED = 1, TOOLS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The core's end: calls with names, numbered 1, 2, no more than may be. */
static void check_calls(struct channel *core, uint32_t said)
{
	struct tool_call c;
	struct frame f;
	const void *body;
	uint32_t n = 0;

	while (!channel_recv(core, 0, &f, &body, NULL))
		if (f.kind != FRAME_TOOL || !(f.flags & FRAME_LAST) ||
		    tool_call_decode(body, f.len, &c, NULL) || c.id != ++n)
			abort();
	if (n != said || n > IN_FLIGHT)
		abort();
}

static void check(const struct boot *b)
{
	if (b->value.len > VALUE_MAX || b->error.len > BOOT_ERROR_MAX ||
	    b->call_bytes.len > TOOL_CALL_MAX || (b->has_exit && !b->asked))
		abort();
}

static void talk(struct boot *b, int theirs, const uint8_t *p, size_t n,
		 bool tools)
{
	static struct channel ours, core;
	int none = -1, sv[2];
	struct pump pump = {.channel = &ours, .out = &none, .err = &none,
			    .in = &none};
	struct relay r = {.channel = &ours, .boot = b, .pump = &pump,
			  .in_flight = IN_FLIGHT};

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return;
	channel_init(&ours, sv[0]);
	channel_init(&core, sv[1]);
	b->call = tools ? relay_call : NULL;
	b->call_data = &r;
	if (n && send(theirs, p, n, MSG_DONTWAIT) > 0)
		boot_drain(b);
	check(b);
	check_calls(&core, r.last);
	relay_done(&r);
	channel_done(&ours);
	channel_done(&core);
	close(sv[0]);
	close(sv[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot b;
	int sv[2];

	if (!size || size > 65536 || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return 0;
	boot_init(&b, &sv[0]);
	b.value_max = VALUE_MAX;
	b.asked = data[0] & ASKED;
	talk(&b, sv[1], data + 1, size - 1, data[0] & TOOLS);
	boot_done(&b);
	if (sv[0] >= 0)
		close(sv[0]);
	close(sv[1]);
	return 0;
}

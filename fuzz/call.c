/* A call from a hostile worker: what is accepted is within its caps and writes
 * back the same bytes; the same for answers.  What is accepted is also asked
 * of a plan with no grants, which must answer. */
#include <stdlib.h>
#include <string.h>
#include "broker/serve.h"
#include "wire/call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int what)
{
	if (!what)
		abort();
}

static void try_call(const uint8_t *data, size_t size)
{
	struct buf b = {0};
	struct call c;

	if (call_decode(data, size, &c, NULL))
		return;
	require(c.path.len <= CALL_PATH_MAX);
	require(!c.path.len || !memchr(c.path.p, 0, c.path.len));
	require(!call_encode(&c, &b, NULL));
	require(b.len == size && !memcmp(b.data, data, size));
	buf_done(&b);
}

static void try_answer(const uint8_t *data, size_t size)
{
	struct buf b = {0};
	struct answer a;

	if (answer_decode(data, size, &a, NULL))
		return;
	require(a.data.len <= CALL_DATA_MAX && a.error >= 0);
	require(!answer_encode(&a, &b, NULL));
	require(b.len == size && !memcmp(b.data, data, size));
	buf_done(&b);
}

static void try_serve(const uint8_t *data, size_t size)
{
	struct policy p = {.base_dir = (char *)"/"};
	struct buf reply = {0};
	struct sealed *s;
	struct answer a;
	int fd;

	require(!seal_open(&p, &s, NULL));
	if (!serve_call(s, data, size, &reply, &fd, NULL)) {
		require(fd == -1);
		require(!answer_decode(reply.data, reply.len, &a, NULL));
		require(a.error > 0);
	}
	buf_done(&reply);
	seal_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_call(data, size);
	try_answer(data, size);
	try_serve(data, size);
	return 0;
}

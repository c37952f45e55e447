/* What a hostile payload says to init: no length of it is believed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "native/boot.h"

#define VALUE_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct boot b;
	int sv[2];

	if (size > 65536 || socketpair(AF_UNIX, SOCK_STREAM, 0, sv))
		return 0;
	boot_init(&b, &sv[0]);
	b.value_max = VALUE_MAX;
	b.asked = size && data[0] & 1;
	if (size > 1 && send(sv[1], data + 1, size - 1, MSG_DONTWAIT) > 0)
		boot_drain(&b);
	if (b.value.len > VALUE_MAX || b.error.len > BOOT_ERROR_MAX ||
	    (b.has_exit && !b.asked))
		abort();
	boot_done(&b);
	if (sv[0] >= 0)
		close(sv[0]);
	close(sv[1]);
	return 0;
}

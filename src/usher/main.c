/* redoma-usher: started by libredoma with one socket; see usher/serve.h. */
#include <stdlib.h>
#include "broker/ask.h"
#include "usher/serve.h"
#include "usher/start.h"

int main(void)
{
	struct usher *u = calloc(1, sizeof *u);

	if (!u || start_up(&u->board, NULL))
		return 1;
	channel_init(&u->core, ASK_CONTROL_FD);
	channel_init(&u->worker, -1);
	u->worker_fd = -1;
	u->cpu = UINT32_MAX;
	return usher_serve(u);
}

/* redoma-worker: started by libredoma with one socket; see worker/zygote.h. */
#include <stdio.h>
#include <stdlib.h>
#include "worker/zygote.h"

int main(int argc, char **argv)
{
	struct channel *c = malloc(sizeof *c);

	(void)argc;
	if (!c)
		return 1;
	channel_init(c, ZYGOTE_CONTROL_FD);
	return zygote_serve(c, argv[0]);
}

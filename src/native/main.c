/* redoma-init: started by libredoma with one socket; see native/spawner.h. */
#include <stdlib.h>
#include "native/spawner.h"

int main(int argc, char **argv)
{
	struct channel *c = malloc(sizeof *c);

	(void)argc;
	if (!c)
		return 1;
	channel_init(c, SPAWNER_CONTROL_FD);
	return spawner_serve(c, argv[0]);
}

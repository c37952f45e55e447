#include "usher/serve.h"

#include <unistd.h>
#include "broker/ask.h"
#include "usher/answer.h"

#define WHERE "usher"

static int hear(struct usher *u, struct redoma_error *err)
{
	struct frame f;
	const void *body;
	int r;

	buf_clear(&u->asked);
	do {
		r = channel_recv(&u->core, UINT64_MAX, &f, &body, err);
		if (r)
			return r;
		if (f.kind != FRAME_ASK || u->asked.len + f.len > ASK_MAX)
			return err_set(err, REDOMA_E_WORKER, WHERE,
				       "the core broke the protocol");
		if (buf_add(&u->asked, body, f.len))
			return err_nomem(err, WHERE);
	} while (!(f.flags & FRAME_LAST));
	return 0;
}

static int tell(struct usher *u, int code, const struct redoma_error *why)
{
	struct redoma_error none;
	int r;

	if (code)
		return channel_send(&u->core, FRAME_FAILED, FRAME_LAST, why,
				    sizeof *why, &none);
	r = channel_put(&u->core, FRAME_TOLD, u->told.data, u->told.len,
			u->n_fds, &none);
	return r ? r : channel_flush(&u->core, u->fds, u->n_fds, &none);
}

int usher_serve(struct usher *u)
{
	struct redoma_error why = {0};
	int r;

	while (!(r = hear(u, &why))) {
		int code, fd;

		buf_clear(&u->told);
		u->n_fds = 0;
		code = answer_ask(u, &why);
		while ((fd = channel_take_fd(&u->core)) >= 0)
			close(fd);
		if (tell(u, code, &why))
			break;
	}
	answer_close(u);
	return r != REDOMA_E_WORKER;
}

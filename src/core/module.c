#include "core/module.h"

int module_artefact(const struct redoma *h, const void *p, size_t n,
		    uint32_t profile, uint8_t digest[32], int *ret_fd,
		    struct redoma_error *err)
{
	(void)h, (void)p, (void)n, (void)profile, (void)digest, (void)ret_fd;
	return err_set(err, REDOMA_E_UNSUPPORTED, "core", "no compiler");
}

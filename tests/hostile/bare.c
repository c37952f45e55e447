/* Takes the kernel jail's lock out of a test worker: the positive control. */
#include "jail/jail.h"

int __wrap_jail_lock(const struct jail *j, const struct jail_options *o,
		     struct jail_report *report, struct redoma_error *err);
int __wrap_jail_bound(uint64_t data_bytes, uint64_t file_bytes,
		      struct redoma_error *err);
int __wrap_jail_seal(struct redoma_error *err);

int __wrap_jail_lock(const struct jail *j, const struct jail_options *o,
		     struct jail_report *report, struct redoma_error *err)
{
	(void)j, (void)o, (void)report, (void)err;
	return 0;
}

int __wrap_jail_bound(uint64_t data_bytes, uint64_t file_bytes,
		      struct redoma_error *err)
{
	(void)data_bytes, (void)file_bytes, (void)err;
	return 0;
}

int __wrap_jail_seal(struct redoma_error *err)
{
	(void)err;
	return 0;
}

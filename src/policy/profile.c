#include "policy/profile.h"

#include <string.h>

struct row {
	const char *name;
	bool epoch, fuel;
};

static const struct row rows[PROFILES] = {
	[PROFILE_IMAGE] = {"image", .epoch = false, .fuel = false},
	[PROFILE_IMAGE_FUEL] = {"image-fuel", .epoch = false, .fuel = true},
	[PROFILE_MODULE] = {"module", .epoch = true, .fuel = false},
	[PROFILE_MODULE_FUEL] = {"module-fuel", .epoch = true, .fuel = true},
};

const char *profile_name(enum profile p)
{
	return rows[p].name;
}

enum profile profile_find(const char *name)
{
	for (int i = 0; i < PROFILES; i++)
		if (!strcmp(rows[i].name, name))
			return (enum profile)i;
	return PROFILES;
}

bool profile_has_fuel(enum profile p)
{
	return rows[p].fuel;
}

bool profile_has_epoch(enum profile p)
{
	return rows[p].epoch;
}

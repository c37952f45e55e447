#include "policy/profile.h"

#include <string.h>

struct row {
	const char *name;
	bool epoch, fuel, image;
};

static const struct row rows[PROFILES] = {
	[PROFILE_IMAGE] = {"image", .image = true},
	[PROFILE_IMAGE_FUEL] = {"image-fuel", .fuel = true, .image = true},
	[PROFILE_MODULE] = {"module", .epoch = true},
	[PROFILE_MODULE_FUEL] = {"module-fuel", .epoch = true, .fuel = true},
	[PROFILE_IMAGE_EPOCH] = {"image-epoch", .epoch = true, .image = true},
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

bool profile_is_image(enum profile p)
{
	return rows[p].image;
}

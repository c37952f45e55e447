#include "broker/path.h"

#include <errno.h>
#include "wire/call.h"

static int check_name(struct str name)
{
	if (!name.len || str_equal(name, STR(".")) ||
	    str_equal(name, STR("..")))
		return EINVAL;
	if (name.len > PATH_NAME_MAX)
		return ENAMETOOLONG;
	return str_is_plain(name) ? 0 : EILSEQ;
}

int path_check(struct str path)
{
	struct str name, rest = path;
	unsigned depth = 1;

	if (path.len > CALL_PATH_MAX)
		return ENAMETOOLONG;
	while (str_split(rest, '/', &name, &rest)) {
		int e = check_name(name);

		if (e)
			return e;
		if (++depth > PATH_DEPTH_MAX)
			return ENAMETOOLONG;
	}
	return check_name(rest);
}

/* A slash comes before everything else that a name may hold. */
static int rank(char c)
{
	return c == '/' ? 0 : (unsigned char)c;
}

int path_compare(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len, i;

	for (i = 0; i < n; i++)
		if (a.p[i] != b.p[i])
			return rank(a.p[i]) - rank(b.p[i]);
	return (a.len > b.len) - (a.len < b.len);
}

bool path_covers(struct str a, struct str b)
{
	return str_starts(b, a) && (b.len == a.len || b.p[a.len] == '/');
}

#include "policy/guest_name.h"

#include <stdlib.h>

const char *guest_name_flaw(struct str name)
{
	if (!name.len)
		return "the name is empty; write a path";
	if (name.len > GUEST_NAME_MAX)
		return "the name is longer than 4095 bytes; use a shorter one";
	if (memchr(name.p, '\0', name.len))
		return "the name holds a NUL byte; no file has such a name";
	for (size_t i = 0, n; i < name.len; i += n) {
		n = str_utf8(name.p + i, name.len - i);
		if (!n)
			return "the name is not UTF-8; rename the file or "
			       "grant its directory";
	}
	if (!str_is_plain(name))
		return "the name holds a control character; rename the file "
		       "or grant its directory";
	return NULL;
}

/* Cuts the last component off dst. */
static size_t parent(const char *dst, size_t at)
{
	while (at && dst[at - 1] != '/')
		at--;
	return at ? at - 1 : 0;
}

/* Joins the components of name behind "/"; ".." climbs, never above "/". */
static char *join(struct str name)
{
	char *dst = malloc(name.len + 2);
	struct str part, rest = name;
	size_t at = 0;

	if (!dst)
		return NULL;
	while (rest.len) {
		if (!str_split(rest, '/', &part, &rest)) {
			part = rest;
			rest = (struct str){0};
		}
		if (!part.len || str_equal(part, STR(".")))
			continue;
		if (str_equal(part, STR(".."))) {
			at = parent(dst, at);
			continue;
		}
		dst[at++] = '/';
		memcpy(dst + at, part.p, part.len);
		at += part.len;
	}
	if (!at)
		dst[at++] = '/';
	dst[at] = '\0';
	return dst;
}

static bool climbs(struct str name)
{
	struct str part, rest = name;

	while (str_split(rest, '/', &part, &rest)) {
		if (str_equal(part, STR("..")))
			return true;
	}
	return str_equal(rest, STR(".."));
}

const char *guest_name(struct str name, char **ret)
{
	const char *flaw = guest_name_flaw(name);

	if (flaw)
		return flaw;
	if (name.p[0] != '/')
		return "the name inside must be absolute: begin it with /";
	if (climbs(name))
		return "the name inside must not hold \"..\"; write the path "
		       "without it";
	*ret = join(name);
	return NULL;
}

const char *guest_name_of_host(struct str host, char **ret)
{
	const char *flaw = guest_name_flaw(host);

	if (flaw)
		return flaw;
	*ret = join(host);
	return NULL;
}

#include <inttypes.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/units.h"
#include "policy/flow.h"
#include "policy/grants.h"
#include "policy/limits.h"
#include "policy/policy.h"
#include "policy/sources.h"
#include "policy/walls.h"
#include "policy/later.h"
#include "policy/tools.h"
#include "policy/native.h"

static int print_quoted(const char *before, const char *s, struct buf *out)
{
	return buf_addf(out, "%s", before) ||
	       json_put_string(out, s, strlen(s)) || buf_add(out, "\n", 1);
}

static int print_limits(const struct policy *p, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (buf_addf(out, "limits:\n"))
		return -1;
	for (const struct limit_row *r = limit_rows; r->name; r++) {
		uint64_t n = limit_get(&p->limits, r);
		/* What follows from elsewhere is shown, not set. */
		bool follows = r->offset == offsetof(struct limits, cpu_us) &&
			       !p->cpu_set;

		if (!n) {
			if (buf_addf(out, "  # %s: not counted\n", r->name))
				return -1;
			continue;
		}
		if (buf_addf(out, "  %s%s: %s%s\n", follows ? "# " : "",
			     r->name, limit_print(r, n, text),
			     follows	   ? ", as wall"
			     : r->of_tools ? " # takes effect with tools only"
					   : ""))
			return -1;
	}
	return 0;
}

static int print_number(const char *key, uint64_t n, struct buf *out)
{
	if (n == POLICY_UNSET)
		return 0;
	return buf_addf(out, "    %s: %" PRIu64 "\n", key, n);
}

static int print_read(const struct grant *g, struct buf *out)
{
	char hex[HASH_HEX_MAX];

	if (g->has_sha256 &&
	    buf_addf(out, "    sha256: \"%s\"\n",
		     hash_hex(g->sha256, sizeof g->sha256, hex)))
		return -1;
	if ((g->first || g->last != POLICY_UNSET) &&
	    buf_addf(out, "    bytes: %" PRIu64 "-", g->first))
		return -1;
	if (g->last != POLICY_UNSET && buf_addf(out, "%" PRIu64, g->last))
		return -1;
	if ((g->first || g->last != POLICY_UNSET) && buf_add(out, "\n", 1))
		return -1;
	return buf_addf(out, "    follow: %s\n", g->follow ? "true" : "false");
}

static int print_grant(const struct grant *g, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (print_quoted("  - host: ", g->host, out) ||
	    print_quoted("    as: ", g->guest, out))
		return -1;
	if (g->max_bytes != POLICY_UNSET &&
	    buf_addf(out, "    max_bytes: %s\n",
		     units_print_size(g->max_bytes, text)))
		return -1;
	if (print_number("max_files", g->max_files, out) ||
	    print_number("opens", g->opens, out))
		return -1;
	if (grant_is_write(g))
		return buf_addf(out, "    mode: %s\n", grant_modes[g->mode]);
	return print_read(g, out);
}

static int print_grants(const struct policy *p, bool write, struct buf *out)
{
	const char *name = write ? "write" : "read";
	bool any = false;

	for (size_t i = 0; i < p->n_grants; i++) {
		const struct grant *g = &p->grants[i];

		if (grant_is_write(g) != write)
			continue;
		if (!any && buf_addf(out, "%s:\n", name))
			return -1;
		any = true;
		if (print_grant(g, out))
			return -1;
	}
	return any ? 0 : buf_addf(out, "%s: []\n", name);
}

static int print_env(const struct policy *p, struct buf *out)
{
	if (!p->env || !p->env[0])
		return buf_addf(out, "env: {}\n");
	if (buf_addf(out, "env:\n"))
		return -1;
	for (size_t i = 0; p->env[i]; i++) {
		struct str name, value;

		if (!str_split(str_of(p->env[i]), '=', &name, &value))
			continue;
		if (buf_add(out, "  ", 2) || flow_print_text(name, out) ||
		    buf_add(out, ": ", 2) ||
		    json_put_string(out, value.p, value.len) ||
		    buf_add(out, "\n", 1))
			return -1;
	}
	return 0;
}

static int print_later(const struct policy *p, const char *key,
		       const char *otherwise, struct buf *out)
{
	const struct policy_later *l = later_find(p, key);

	return buf_addf(out, "%s: ", key) ||
	       buf_addf(out, "%s", l ? l->text : otherwise) ||
	       buf_add(out, "\n", 1);
}

int policy_print(const struct policy *p, struct buf *out)
{
	char clock[SOURCE_TEXT_MAX], random[SOURCE_TEXT_MAX];

	if (buf_addf(out, "redoma: 1\n") || print_limits(p, out) ||
	    print_grants(p, false, out) || print_grants(p, true, out) ||
	    print_env(p, out) ||
	    buf_addf(out, "clock: %s\nrandom: %s\n",
		     source_print_clock(p, clock),
		     source_print_random(p, random)) ||
	    print_later(p, "net", "[]", out) ||
	    tools_print(p, out) ||
	    native_print(p, out) ||
	    buf_addf(out, "on_denied: %s\nwalls: ",
		     p->end_on_denied ? "end" : "error") ||
	    walls_print(p, out) ||
	    buf_addf(out, "\nreuse: %s\n",
		     p->reuse_tenant ? "tenant" : "never"))
		return -1;
	return 0;
}

static uint64_t twice(uint64_t n)
{
	return n > POLICY_UNSET / 2 ? n : n ? 2 * n : 1;
}

static uint64_t round_up(uint64_t n)
{
	uint64_t unit = n < 1 << 20 ? 1 << 10 : 1 << 20;

	return n > POLICY_UNSET - unit ? n : (n + unit - 1) / unit * unit;
}

static int print_more_writing(const struct plan_grant *g,
			      const struct policy_want *want, struct buf *out)
{
	char text[UNITS_TEXT_MAX];
	bool files = !strcmp(want->op, "create");
	uint64_t bytes = files ? g->max_bytes : twice(g->max_bytes);

	if (!files && want->bytes > bytes)
		bytes = round_up(want->bytes);

	if (buf_addf(out, ", max_bytes: %s", units_print_size(bytes, text)))
		return -1;
	return files ? buf_addf(out, ", max_files: %" PRIu64,
				twice(g->max_files)) : 0;
}

int policy_print_more(const struct plan_grant *g,
		      const struct policy_want *want, struct buf *out)
{
	bool write = g->kind >= GRANT_WRITE_FILE;
	size_t before = out->len;

	if (!buf_addf(out, write ? "write: [{host: " : "read: [{host: ") &&
	    !json_put_string(out, want->host, strlen(want->host)) &&
	    !buf_addf(out, ", as: ") &&
	    !json_put_string(out, g->guest, strlen(g->guest)) &&
	    (!write || !print_more_writing(g, want, out)) &&
	    !buf_addf(out, "}]"))
		return 0;
	out->len = before;
	if (out->data)
		out->data[before] = '\0';
	return -1;
}

int policy_print_allow(struct str host, struct str guest, bool write,
		       struct buf *out)
{
	size_t before = out->len;

	if (!buf_addf(out, write ? "write: [{host: " : "read: [{host: ") &&
	    !json_put_string(out, host.p, host.len) &&
	    !buf_addf(out, ", as: ") &&
	    !json_put_string(out, guest.p, guest.len) &&
	    !buf_addf(out, write ? ", max_bytes: 1MiB}]" : "}]"))
		return 0;
	out->len = before;
	if (out->data)
		out->data[before] = '\0';
	return -1;
}

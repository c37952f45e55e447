#include "policy/walls.h"

#include "policy/read.h"

const char *const policy_control_names[] = {
	"user", "mount", "pid", "net", "ipc", "uts", "cgroup-namespace",
	"capabilities", "no-new-privs", "landlock", "rlimits", "seccomp",
	"cgroup", NULL,
};

static int read_control(void *into, const struct tree *v,
			struct redoma_error *err)
{
	uint32_t *may_lack = into;
	unsigned control = 0;
	int e = read_word(v, "walls", policy_control_names, &control, err);

	if (e)
		return e;
	*may_lack |= (uint32_t)1 << control;
	return 0;
}

int walls_read(void *policy, const struct tree *v, struct redoma_error *err)
{
	struct policy *p = policy;
	uint32_t may_lack = 0;
	int e = 0;

	if (v->kind == TREE_LIST)
		e = read_list(v, "walls", read_control, &may_lack, err);
	else if (v->kind != TREE_SCALAR || !str_equal(v->text, STR("required")))
		return tree_refuse(v, err, "walls: write \"required\", or a "
				   "list of the controls that may be missing, "
				   "such as [cgroup]");
	if (!e)
		p->may_lack = may_lack;
	return e;
}

int walls_option(struct policy *p, struct str value, struct redoma_error *err)
{
	struct tree leaf = {.kind = TREE_SCALAR, .quoted = true};
	struct str rest = value;
	uint32_t may_lack = 0;
	bool more = !str_equal(value, STR("required"));

	while (more) {
		int e;

		more = str_split(rest, ',', &leaf.text, &rest);
		if (!more)
			leaf.text = rest;
		e = read_control(&may_lack, &leaf, err);
		if (e)
			return e;
	}
	p->may_lack = may_lack;
	return 0;
}

int walls_print(const struct policy *p, struct buf *out)
{
	const char *comma = "";

	if (!p->may_lack)
		return buf_addf(out, "required");
	if (buf_add(out, "[", 1))
		return -1;
	for (unsigned i = 0; policy_control_names[i]; i++) {
		if (!(p->may_lack >> i & 1))
			continue;
		if (buf_addf(out, "%s%s", comma, policy_control_names[i]))
			return -1;
		comma = ", ";
	}
	return buf_add(out, "]", 1);
}

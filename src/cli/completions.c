#include <string.h>

#include "cli/help.h"

static int each_option(struct buf *out, const struct verb *v,
		       int (*add)(struct buf *, const struct verb *,
				  const struct option *))
{
	int rc = 0;

	for (size_t i = 0; v->options[i] && !rc; i++)
		for (const struct option *o = v->options[i]; o->name; o++)
			if (!o->later && !rc)
				rc = add(out, v, o);
	return rc;
}

/* Inside single quotes of every shell. */
static int add_quoted(struct buf *out, const char *s)
{
	int rc = 0;

	for (; *s && !rc; s++)
		rc = *s == '\'' ? buf_add(out, "'\\''", 4) : buf_add(out, s, 1);
	return rc;
}

static int add_names(struct buf *out, const struct verb *v)
{
	int rc = 0;

	(void)v;
	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = buf_addf(out, "%s%s", i ? " " : "",
				      verb_table[i]->name);
	return rc;
}

static int bash_value(struct buf *out, const struct verb *v,
		      const struct option *o)
{
	if (!o->value || !o->words)
		return 0;
	if (buf_addf(out, "\t%s:--%s) ", v->name, o->name))
		return -1;
	if (*o->words == '@')
		return buf_addf(out,
				"COMPREPLY=($(compgen -f -- \"$word\")); "
				"return ;;\n");
	return buf_addf(out,
			"COMPREPLY=($(compgen -W '%s' -- \"$word\")); "
			"return ;;\n",
			o->words);
}

static int bash_name(struct buf *out, const struct verb *v,
		     const struct option *o)
{
	(void)v;
	return buf_addf(out, " --%s", o->name);
}

static const char bash_head[] =
	"_redoma() {\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]}\n"
	"\tlocal last=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal verb=${COMP_WORDS[1]}\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tCOMPREPLY=($(compgen -W '";

/* What may follow the verb: its words and its options. */
static int bash_verb(struct buf *out, const struct verb *v)
{
	bool files = v->words && *v->words == '@';
	const char *words = v->words && !files ? v->words : "";

	if (buf_addf(out, "\t%s) COMPREPLY=($(compgen%s -W '%s", v->name,
		     files ? " -f" : "", words) ||
	    each_option(out, v, bash_name))
		return -1;
	return buf_addf(out, "' -- \"$word\")) ;;\n");
}

static int bash_add(struct buf *out)
{
	int rc = buf_add(out, bash_head, sizeof(bash_head) - 1);

	if (!rc)
		rc = add_names(out, NULL);
	if (!rc)
		rc = buf_addf(out, "' -- \"$word\")); return\n\tfi\n"
				   "\tcase $verb:$last in\n");
	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = each_option(out, verb_table[i], bash_value);
	if (!rc)
		rc = buf_addf(out, "\tesac\n\tcase $verb in\n");
	for (size_t i = 0; verb_table[i] && !rc; i++)
		if (verb_table[i]->summary)
			rc = bash_verb(out, verb_table[i]);
	if (rc)
		return rc;
	return buf_addf(out, "\tesac\n}\n"
			     "complete -o filenames -F _redoma redoma\n");
}

static int zsh_option(struct buf *out, const struct verb *v,
		      const struct option *o)
{
	(void)v;
	if (buf_addf(out, " \\\n\t\t'%s--%s%s[", o->repeats ? "*" : "", o->name,
		     o->value ? "=" : "") ||
	    add_quoted(out, o->help) || buf_addf(out, "]"))
		return -1;
	if (!o->value)
		return buf_addf(out, "'");
	if (o->words && *o->words == '@')
		return buf_addf(out, ":file:_files'");
	if (o->words)
		return buf_addf(out, ":value:(%s)'", o->words);
	return buf_addf(out, ":value:'");
}

static int zsh_add(struct buf *out)
{
	int rc = buf_addf(out, "#compdef redoma\n"
			       "_redoma() {\n"
			       "\tif ((CURRENT == 2)); then\n"
			       "\t\tcompadd ");

	if (!rc)
		rc = add_names(out, NULL);
	if (!rc)
		rc = buf_addf(out, "; return\n\tfi\n"
				   "\tlocal verb=$words[2]\n"
				   "\tshift words; ((CURRENT--))\n"
				   "\tcase $verb in\n");
	for (size_t i = 0; verb_table[i] && !rc; i++) {
		const struct verb *v = verb_table[i];

		if (!v->summary)
			continue;
		rc = buf_addf(out, "\t%s) _arguments", v->name);
		if (!rc)
			rc = each_option(out, v, zsh_option);
		if (!rc && v->words && *v->words == '@')
			rc = buf_addf(out, " \\\n\t\t'*:file:_files' ;;\n");
		else if (!rc && v->words)
			rc = buf_addf(out, " \\\n\t\t'*:word:(%s)' ;;\n",
				      v->words);
		else if (!rc)
			rc = buf_addf(out, " ;;\n");
	}
	return rc ? rc : buf_addf(out, "\tesac\n}\n_redoma \"$@\"\n");
}

static int fish_option(struct buf *out, const struct verb *v,
		       const struct option *o)
{
	if (buf_addf(out,
		     "complete -c redoma -n "
		     "'__fish_seen_subcommand_from %s' -l %s",
		     v->name, o->name))
		return -1;
	if (o->letter && buf_addf(out, " -s %c", o->letter))
		return -1;
	if (o->value && o->words && *o->words == '@') {
		if (buf_addf(out, " -r -F"))
			return -1;
	} else if (o->value && buf_addf(out, " -x -a '%s'",
					o->words ? o->words : "")) {
		return -1;
	}
	if (buf_addf(out, " -d '"))
		return -1;
	for (const char *s = o->help; *s; s++)
		if (*s == '\'' ? buf_add(out, "\\'", 2) : buf_add(out, s, 1))
			return -1;
	return buf_addf(out, "'\n");
}

static int fish_add(struct buf *out)
{
	int rc = 0;

	for (size_t i = 0; verb_table[i] && !rc; i++) {
		const struct verb *v = verb_table[i];

		if (!v->summary)
			continue;
		rc = buf_addf(out,
			      "complete -c redoma -f -n __fish_use_subcommand "
			      "-a %s -d '%s'\n",
			      v->name, v->summary);
		if (!rc && v->words)
			rc = buf_addf(out,
				      "complete -c redoma -n "
				      "'__fish_seen_subcommand_from %s' ",
				      v->name);
		if (!rc && v->words)
			rc = *v->words == '@'
				     ? buf_addf(out, "-F\n")
				     : buf_addf(out, "-f -a '%s'\n", v->words);
		if (!rc)
			rc = each_option(out, v, fish_option);
	}
	return rc;
}

int completions_add(struct buf *out, const char *shell)
{
	if (!strcmp(shell, "zsh"))
		return zsh_add(out);
	if (!strcmp(shell, "fish"))
		return fish_add(out);
	return bash_add(out);
}

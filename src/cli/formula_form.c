#include "cli/formula.h"

static const struct form {
	const char *name;
	enum table_format format;
	const char *ends[3];
} forms[] = {
	{"csv", TABLE_CSV, {".csv", ".tsv"}},
	{"jsonl", TABLE_JSONL, {".jsonl", ".ndjson"}},
	{"arrow", TABLE_ARROW, {".arrow", ".feather", ".ipc"}},
	{"arrows", TABLE_ARROW_STREAM, {".arrows"}},
};
#define N (sizeof forms / sizeof *forms)

bool formula_form_of_path(const char *path, enum table_format *ret)
{
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < 3 && forms[i].ends[k]; k++)
			if (str_ends(str_of(path), str_of(forms[i].ends[k]))) {
				*ret = forms[i].format;
				return true;
			}
	return false;
}

int formula_form_of_word(const char *option, const char *word,
			 enum table_format *ret, struct redoma_error *err)
{
	for (size_t i = 0; i < N; i++)
		if (!strcmp(word, forms[i].name)) {
			*ret = forms[i].format;
			return 0;
		}
	return err_set(err, REDOMA_E_INVALID, "cli",
		       "--%s is csv, jsonl, arrow or arrows, not %s", option,
		       SHOW(str_of(word)));
}

bool formula_form_is_arrow(enum table_format f)
{
	return f == TABLE_ARROW || f == TABLE_ARROW_STREAM;
}

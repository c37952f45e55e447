/* policy/tree.h - the one shape that policy text is read into, whether it was
 * YAML (a subset) or JSON (text whose first byte that is not blank is "{").
 *
 * Refused, with line and column: anchors, aliases, tags, directives, merge
 * keys, keys that are not scalars, duplicate keys, several documents, text
 * that is not UTF-8, control characters, and what exceeds the caps below. */
#ifndef POLICY_TREE_H
#define POLICY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/str.h"

#define TREE_TEXT_MAX ((size_t)1 << 20)
#define TREE_DEPTH_MAX 32
#define TREE_NODES_MAX 65536
#define TREE_KEYS_MAX 4096 /* of one map */
/* Bytes; escaped and in quotes still a simple key of YAML (1024). */
#define TREE_KEY_MAX 128

enum tree_kind { TREE_SCALAR, TREE_LIST, TREE_MAP };

/* A node; everything is owned by the root.  Lines and columns are from 1; line
 * 0: not from a text.  Of JSON containers, true, false and null the position
 * is that of their key, or of what they are in. */
struct tree {
	enum tree_kind kind;
	bool quoted; /* a scalar in quotes: never null, true, a number */
	int line, column;
	struct str text; /* of a scalar; NUL-terminated */
	struct str key;  /* in a map; NUL-terminated */
	int key_line, key_column;
	size_t count; /* entries */
	struct tree *first, *next;
	struct tree *last_, *made_; /* private */
};

/* *ret is NULL for a text of comments and blanks only. */
MUST_CHECK int tree_parse(const char *text, size_t len, struct tree **ret,
			  struct redoma_error *err);
void tree_free(struct tree *root); /* NULL is fine */
static inline void tree_cleanup(struct tree **root)
{
	tree_free(*root);
}
/* An entry of a map, or NULL. */
const struct tree *tree_get(const struct tree *map, const char *key);
/* True for a plain scalar that YAML calls null: empty, ~, null. */
bool tree_is_null(const struct tree *t);
/* REDOMA_E_INVALID: "line 3 column 5: " (unless line is 0) and the rest. */
int tree_refuse(const struct tree *at, struct redoma_error *err,
		const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same at the entry's key. */
int tree_refuse_key(const struct tree *at, struct redoma_error *err,
		    const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif

/* policy/tree_build.h - how the two readers (tree_yaml.c, tree_json.c) grow a
 * tree: caps and duplicate keys are checked here, once. */
#ifndef POLICY_TREE_BUILD_H
#define POLICY_TREE_BUILD_H

#include "base/buf.h"
#include "policy/tree.h"

/* All zero is fresh.  The owner frees root with tree_free, key with
 * buf_done. */
struct tree_builder {
	struct tree *root, *made;
	struct tree *open[TREE_DEPTH_MAX];
	size_t depth, nodes;
	bool has_key; /* the next node belongs to `key` */
	struct buf key;
	int key_line, key_column;
};

struct tree_mark {
	int line, column;
};

/* In a map, before each value. */
MUST_CHECK int tree_add_key(struct tree_builder *b, struct str key,
			    struct tree_mark at, struct redoma_error *err);
MUST_CHECK int tree_add_scalar(struct tree_builder *b, struct str text,
			       bool quoted, struct tree_mark at,
			       struct redoma_error *err);
MUST_CHECK int tree_open(struct tree_builder *b, enum tree_kind kind,
			 struct tree_mark at, struct redoma_error *err);
void tree_close(struct tree_builder *b);
/* True if what comes next in the innermost map is a key. */
bool tree_wants_key(const struct tree_builder *b);

MUST_CHECK int tree_read_yaml(struct tree_builder *b, const char *text,
			      size_t len, struct redoma_error *err);
MUST_CHECK int tree_read_json(struct tree_builder *b, const char *text,
			      size_t len, struct redoma_error *err);

#endif

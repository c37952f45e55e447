/* tree.h - a formula's text as a tree. */
#ifndef COLUMNS_TREE_H
#define COLUMNS_TREE_H

#include "columns/columns.h"

#define TREE_NODES_MAX 256
#define TREE_TEXT_MAX 4096

enum node_kind {
	NODE_NONE, /* also: no node */
	NODE_COLUMN,
	NODE_INDEX,
	NODE_NUMBER,
	NODE_INTEGER,
	NODE_TRUTH,
	NODE_BLANK,
	NODE_NEGATE,
	NODE_PLUS,
	NODE_NOT,
	NODE_ABS,
	NODE_CHECKED, /* itself; what is not finite, the interpreter judges */
	NODE_IS_TRUE, /* a truth: what the language takes it for */
	NODE_ADD,
	NODE_SUBTRACT,
	NODE_MULTIPLY,
	NODE_DIVIDE,
	NODE_FLOOR_DIVIDE,
	NODE_REMAINDER,
	NODE_LESS,
	NODE_LESS_EQUAL,
	NODE_GREATER,
	NODE_GREATER_EQUAL,
	NODE_EQUAL,
	NODE_UNEQUAL,
	NODE_SAME, /* === */
	NODE_UNSAME,
	NODE_AND, /* as the language has it: one of both operands */
	NODE_OR,
	NODE_CHOOSE, /* a: b, else c */
	NODE_FAIL,   /* the interpreter's */
};

struct node {
	uint8_t kind;
	uint16_t a, b, c; /* nodes; of NODE_COLUMN a: in `columns` */
	union {
		double number;
		int64_t integer;
		bool truth;
	} is;
};

struct tree {
	struct node nodes[TREE_NODES_MAX]; /* the first is none */
	uint16_t n_nodes, root;
	uint32_t columns[COLUMNS_CELLS_MAX];
	uint16_t n_columns;
};

struct tree_text {
	const char *p;
	size_t len;
	enum columns_language language;
	const struct columns_scope *scope;
};

/* False: it is more than a tree holds.  A text that the language's own parser
 * refuses may come to anything. */
bool tree_read(const struct tree_text *text, struct tree *ret);

#endif

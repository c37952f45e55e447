#include "table/arrow.h"

#include <stdio.h>
#include <string.h>
#include "base/err.h"

#define WHERE "table"
#define V4 3
#define CUT "it ends in the middle"

int arrow_bad(const struct arrow *a, const char *what, struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the Arrow table is damaged at its message %llu: %s",
		       (unsigned long long)a->messages, what);
}

/* How many bytes the head of the next message has; 0: there is none. */
static int take_length(struct arrow *a, size_t *ret, struct redoma_error *err)
{
	uint32_t words[2];
	int r = pieces_take(&a->pieces, sizeof words, &a->meta, err);

	if (r)
		return r;
	*ret = 0;
	/* A stream may end without a word; a file has its end marked. */
	if (!a->meta.len && !a->is_file)
		return 0;
	if (a->meta.len < sizeof words)
		return arrow_bad(a, CUT, err);
	memcpy(words, a->meta.data, sizeof words);
	if (words[0] != UINT32_MAX)
		return arrow_bad(a,
				 "no message begins where one has to (those "
				 "before Arrow 0.15 are not read)",
				 err);
	if (words[1] > ARROW_MESSAGE_MAX)
		return arrow_bad(a, "the message has more than 16 MiB", err);
	*ret = words[1];
	return 0;
}

static int take_head(struct arrow *a, struct flat_table *ret_head,
		     int *ret_kind, struct redoma_error *err)
{
	struct flat_table root;
	int64_t kind, body;
	bool cut = false;
	int r;

	a->flat = (struct flat){a->meta.data, (uint32_t)a->meta.len, false};
	root = flat_root(&a->flat);
	if (flat_number(&root, 0, 2, 0) < V4 && !a->flat.bad)
		return arrow_bad(a, "it is of a version before Arrow 0.8", err);
	kind = flat_number(&root, 1, 1, 0);
	*ret_head = flat_child(&root, 2);
	body = flat_number(&root, 3, 8, 0);
	if (a->flat.bad || !ret_head->flat || kind < ARROW_SCHEMA ||
	    kind > ARROW_BATCH || body < 0)
		return arrow_bad(a, "the message makes no sense", err);
	r = pieces_body(&a->pieces, (uint64_t)body, &cut, err);
	if (r)
		return r;
	*ret_kind = (int)kind;
	return cut ? arrow_bad(a, CUT, err) : 0;
}

int arrow_message(struct arrow *a, struct flat_table *ret_head, int *ret_kind,
		  struct redoma_error *err)
{
	size_t n;
	int r;

	a->messages++;
	*ret_kind = 0;
	r = take_length(a, &n, err);
	if (r || !n)
		return r;
	r = pieces_take(&a->pieces, n, &a->meta, err);
	if (r)
		return r;
	return a->meta.len < n ? arrow_bad(a, CUT, err)
			       : take_head(a, ret_head, ret_kind, err);
}

/* ---- record batches ---- */

/* Takes buffers and rows of one batch, one after another. */
struct walk {
	struct arrow *a;
	uint64_t rows;
	uint32_t buffer;
	struct flat_list nodes, buffers, views;
	uint32_t node, view;
	const char *wrong; /* the first thing that does not hold */
};

static void refuse(struct walk *w, const char *what)
{
	if (!w->wrong)
		w->wrong = what;
}

static struct arrow_span take_span(struct walk *w)
{
	const struct pieces *s = &w->a->pieces;
	int64_t at, len;

	if (w->buffer >= w->buffers.n) {
		refuse(w, "it has fewer buffers than its columns need");
		return (struct arrow_span){0};
	}
	at = flat_word(&w->buffers, w->buffer, 16, 0);
	len = flat_word(&w->buffers, w->buffer++, 16, 8);
	if (at < 0 || len < 0 || (uint64_t)at > s->body_len ||
	    (uint64_t)len > s->body_len - (uint64_t)at) {
		refuse(w, "a buffer lies outside of its body");
		return (struct arrow_span){0};
	}
	return (struct arrow_span){(uint64_t)at, (uint64_t)len};
}

/* Bytes that the values of so many rows need at least. */
static uint64_t need(const struct arrow_type *t, uint64_t rows)
{
	if (!rows || t->kind == ARROW_NULL)
		return 0;
	if (t->index_width)
		return rows * t->index_width;
	if (t->kind == ARROW_BOOL)
		return (rows + 7) / 8;
	return (rows + (t->kind == ARROW_UTF8)) * t->width;
}

static void take_views(struct walk *w, struct arrow_column *c)
{
	int64_t n = w->view < w->views.n ? flat_word(&w->views, w->view++, 8, 0)
					 : 0;

	if (n < 0 || n > w->buffers.n - w->buffer) {
		refuse(w, "it has fewer buffers than its columns need");
		return;
	}
	c->first_view = w->buffer;
	c->n_views = (uint32_t)n;
	w->buffer += (uint32_t)n;
}

static void take_column(struct walk *w, struct arrow_column *c)
{
	int64_t rows = flat_word(&w->nodes, w->node, 16, 0);
	int64_t nulls = flat_word(&w->nodes, w->node++, 16, 8);

	if (rows < 0 || (uint64_t)rows != w->rows)
		refuse(w, "a column has another number of rows than the batch");
	if (c->type.kind == ARROW_NULL)
		return;
	c->valid = take_span(w);
	c->values = take_span(w);
	if (c->type.kind == ARROW_VIEWS)
		take_views(w, c);
	else if (c->type.kind == ARROW_UTF8 && !c->type.index_width)
		c->texts = take_span(w);
	if (c->values.len < need(&c->type, w->rows) ||
	    (c->valid.len && c->valid.len < (w->rows + 7) / 8) ||
	    (!c->valid.len && w->rows && nulls))
		refuse(w, "a buffer is shorter than its rows");
}

/* The compression of bodies, a sentence of its own: it is what writers of
 * Feather do if nobody says otherwise. */
static int check_plain(const struct flat_table *head, struct redoma_error *err)
{
	struct flat_table compression = flat_child(head, 3);

	if (!compression.flat)
		return 0;
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "the Arrow table is compressed (%s): write it without, "
		       "in pyarrow by feather.write_feather(table, path, "
		       "compression=\"uncompressed\")",
		       flat_number(&compression, 0, 1, 0) ? "zstd" : "lz4");
}

int arrow_batch(struct arrow *a, const struct flat_table *head,
		struct arrow_column *columns, size_t n,
		struct redoma_error *err)
{
	struct walk w = {.a = a};
	int64_t rows = flat_number(head, 0, 8, 0);
	int r = check_plain(head, err);

	if (r)
		return r;
	w.nodes = flat_list(head, 1, 16);
	a->buffers = w.buffers = flat_list(head, 2, 16);
	w.views = flat_list(head, 4, 8);
	if (a->flat.bad || w.nodes.n != n)
		return arrow_bad(a, "it has other columns than the schema",
				 err);
	if (rows < 0 || rows > ARROW_ROWS_MAX)
		return arrow_bad(a,
				 "a record batch has at most 2147483647 "
				 "rows",
				 err);
	w.rows = (uint64_t)rows;
	for (size_t i = 0; i < n && !w.wrong; i++)
		take_column(&w, &columns[i]);
	if (w.wrong)
		return arrow_bad(a, w.wrong, err);
	a->rows = w.rows;
	a->row = 0;
	return 0;
}

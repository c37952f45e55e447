#include "table/arrow_write.h"

#include <string.h>
#include "base/cleanup.h"
#include "base/err.h"
#include "table/arrow_body.h"

#define WHERE "table"
#define V5 4
#define MAGIC "ARROW1\0" /* and the literal's own NUL */

void arrow_writer_done(struct arrow_writer *w)
{
	buf_done(&w->blocks);
}

static uint32_t put_field(struct flat_out *o, const struct arrow_out *c)
{
	struct flat_slot slots[6] = {
		{4, 0, 0}, {1, 1, 0}, {1, arrow_type_number(&c->type), 0},
		{4, 0, 0}, {0, 0, 0}, {4, 0, 0}};
	uint32_t at = flat_put_table(o, slots, 6);

	flat_link(o, slots[0].at, flat_put_text(o, str_of(c->name)));
	flat_link(o, slots[3].at, arrow_type_put(o, &c->type));
	flat_link(o, slots[5].at, flat_put_list(o, 0, 4));
	return at;
}

static uint32_t put_schema(struct flat_out *o, const struct arrow_writer *w)
{
	struct flat_slot slots[2] = {{0}, {4, 0, 0}};
	uint32_t at = flat_put_table(o, slots, 2), list;

	list = flat_put_list(o, (uint32_t)w->n_columns, 4);
	flat_link(o, slots[1].at, list);
	for (size_t i = 0; i < w->n_columns; i++)
		flat_link(o, list + 4 + 4 * (uint32_t)i,
			  put_field(o, &w->columns[i]));
	return at;
}

/* Begins a message: its length is not known yet.  Returns where the offset of
 * its header stands. */
static uint32_t begin_message(struct flat_out *o, unsigned kind, uint64_t body)
{
	static const char start[8] = "\xff\xff\xff\xff";
	struct flat_slot slots[4] = {
		{2, V5, 0}, {1, kind, 0}, {4, 0, 0}, {8, (int64_t)body, 0}};

	if (buf_add(o->b, start, sizeof start))
		o->failed = true;
	flat_begin(o);
	flat_link(o, 0, flat_put_table(o, slots, 4));
	return slots[2].at;
}

static void end_message(struct flat_out *o)
{
	uint32_t n;

	flat_end(o);
	n = (uint32_t)(o->b->len - o->base);
	if (!o->failed)
		memcpy(o->b->data + o->base - 4, &n, sizeof n);
}

int arrow_put_head(struct arrow_writer *w, struct buf *b,
		   struct redoma_error *err)
{
	struct flat_out o = {.b = b};
	size_t before = b->len;
	uint32_t at;

	if (w->is_file && buf_add(b, MAGIC, 8))
		return err_nomem(err, WHERE);
	at = begin_message(&o, 1, 0);
	flat_link(&o, at, put_schema(&o, w));
	end_message(&o);
	w->at += b->len - before;
	return o.failed ? err_nomem(err, WHERE) : 0;
}

/* The list, from a slot that leads to it. */
static void put_pairs(struct flat_out *o, uint32_t slot, const struct buf *b)
{
	uint32_t list = flat_put_list(o, (uint32_t)(b->len / 16), 16);

	flat_link(o, slot, list);
	flat_set(o, list + 4, b->data, b->len);
}

/* Where a record batch is, for the footer. */
static int note_block(struct arrow_writer *w, size_t head, size_t body)
{
	int64_t block[3] = {(int64_t)w->at, (int64_t)head, (int64_t)body};

	w->at += head + body;
	return w->is_file ? buf_add(&w->blocks, block, sizeof block) : 0;
}

static int put_batch(struct arrow_writer *w, struct arrow_body *t,
		     struct buf *b)
{
	struct flat_out o = {.b = b};
	struct flat_slot slots[3] = {
		{8, (int64_t)t->rows, 0}, {4, 0, 0}, {4, 0, 0}};
	size_t before = b->len;
	uint32_t at = begin_message(&o, 3, t->bytes.len);

	flat_link(&o, at, flat_put_table(&o, slots, 3));
	put_pairs(&o, slots[1].at, &t->nodes);
	put_pairs(&o, slots[2].at, &t->buffers);
	end_message(&o);
	return o.failed || buf_add(b, t->bytes.data, t->bytes.len) ||
			       note_block(w, b->len - t->bytes.len - before,
					  t->bytes.len)
		       ? -1
		       : 0;
}

int arrow_put_rows(struct arrow_writer *w, uint64_t from, uint64_t rows,
		   struct buf *b, struct redoma_error *err)
{
	CLEANUP(arrow_body_done)
	struct arrow_body t = {.from = from, .rows = rows, .first = w->rows};
	int r = 0;

	for (size_t i = 0; i < w->n_columns && !r; i++)
		r = arrow_body_add(&t, &w->columns[i], err);
	if (!r && put_batch(w, &t, b))
		r = err_nomem(err, WHERE);
	w->rows += rows;
	return r;
}

static int put_footer(struct arrow_writer *w, struct buf *b)
{
	struct flat_out o = {.b = b};
	struct flat_slot slots[4] = {
		{2, V5, 0}, {4, 0, 0}, {4, 0, 0}, {4, 0, 0}};
	uint32_t n = (uint32_t)(w->blocks.len / 24), list;

	flat_begin(&o);
	flat_link(&o, 0, flat_put_table(&o, slots, 4));
	flat_link(&o, slots[1].at, put_schema(&o, w));
	flat_link(&o, slots[2].at, flat_put_list(&o, 0, 24));
	list = flat_put_list(&o, n, 24);
	flat_link(&o, slots[3].at, list);
	flat_set(&o, list + 4, w->blocks.data, w->blocks.len);
	flat_end(&o);
	n = (uint32_t)(b->len - o.base);
	return o.failed || buf_add(b, &n, sizeof n) || buf_add(b, MAGIC, 6) ? -1
									    : 0;
}

int arrow_put_tail(struct arrow_writer *w, struct buf *b,
		   struct redoma_error *err)
{
	static const char end[8] = "\xff\xff\xff\xff";

	if (buf_add(b, end, sizeof end) || (w->is_file && put_footer(w, b)))
		return err_nomem(err, WHERE);
	return 0;
}

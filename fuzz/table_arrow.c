/* Arrow's files and streams.  Cells do not depend on whether the bytes can be
 * sought in, nor on where blocks end; what is written is read, and written as
 * the same bytes again. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cell.h"
#include "table/arrow_write.h"
#include "table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_MAX 2000u
#define PIPE_MAX 65536u

static void require(int what)
{
	if (!what)
		abort();
}

static struct cell cell_at(const void *data, uint64_t row)
{
	const struct table_column *c = data;
	struct cell cell = {.kind = (enum cell_kind)c->kinds.data[row]};
	uint32_t text[2];

	require(cell.kind < CELL_KINDS && row < c->kinds.len);
	memcpy(&cell.integer, c->values.data + 8 * row, 8);
	memcpy(text, &cell.integer, sizeof text);
	if (cell.kind != CELL_TEXT && cell.kind != CELL_ERROR)
		return cell;
	require(text[0] <= c->heap.len && text[1] <= c->heap.len - text[0]);
	cell.text = (struct str){c->heap.len ? c->heap.data + text[0] : "",
				 text[1]};
	return cell;
}

static void dump(const struct table *t, struct buf *out)
{
	for (uint64_t row = 0; row < t->rows; row++)
		for (size_t i = 0; i < t->n_columns; i++) {
			struct cell c = cell_at(&t->columns[i], row);
			bool text = c.kind == CELL_TEXT || c.kind == CELL_ERROR;
			int64_t v = text ? (int64_t)c.text.len : c.integer;

			require(!buf_add(out, &c.kind, 1) &&
				!buf_add(out, &v, sizeof v) &&
				(!text || !buf_add(out, c.text.p, c.text.len)));
		}
}

static int open_bytes(const void *p, size_t n, bool pipe_it)
{
	int fd = memfd_create("arrow", MFD_CLOEXEC), ends[2];

	if (!pipe_it) {
		require(fd >= 0 && write(fd, p, n) == (ssize_t)n &&
			lseek(fd, 0, SEEK_SET) == 0);
		return fd;
	}
	close(fd);
	require(pipe2(ends, O_CLOEXEC) == 0);
	require(write(ends[1], p, n) == (ssize_t)n);
	close(ends[1]);
	return ends[0];
}

/* How one reading goes. */
struct reading {
	bool pipe_it;
	size_t block;
	uint64_t most; /* rows of a block */
	struct buf *cells, *written;
};

static void write_head(struct arrow_writer *w, struct arrow_out *columns,
		       const struct table *t, struct buf *out)
{
	struct redoma_error err;

	for (size_t i = 0; i < t->n_columns; i++) {
		struct table_column *c = &t->columns[i];

		columns[i] = (struct arrow_out){.name = c->name,
						.type = *c->arrow,
						.cell = cell_at,
						.data = c};
		columns[i].type.index_width = 0;
	}
	w->is_file = !table_is_stream(t);
	w->columns = columns;
	w->n_columns = t->n_columns;
	require(!arrow_put_head(w, out, &err));
}

static void write_rows(struct arrow_writer *w, struct arrow_out *columns,
		       const struct table *t, struct buf *out)
{
	struct redoma_error err;

	for (size_t i = 0; i < t->n_columns; i++) {
		const struct table_column *c = &t->columns[i];

		if (!arrow_type_bytes(&columns[i].type))
			continue;
		columns[i].fixed = c->fixed.data;
		columns[i].kinds = (const uint8_t *)c->kinds.data;
	}
	require(!arrow_put_rows(w, 0, t->rows, out, &err));
}

/* 0, or that it is refused. */
static int read_all(const void *p, size_t n, const struct reading *how)
{
	struct table t = {.format = TABLE_ARROW, .block_bytes = how->block};
	struct arrow_writer w = {0};
	struct arrow_out *columns;
	struct redoma_error err;
	uint64_t rows = 0;
	int r;

	t.csv.feed.fd = open_bytes(p, n, how->pipe_it);
	r = table_open(&t, &err);
	columns = calloc(t.n_columns + 1, sizeof *columns);
	require(columns != NULL);
	if (!r && how->written)
		write_head(&w, columns, &t, how->written);
	while (!r && rows < ROWS_MAX) {
		uint64_t left = ROWS_MAX - rows;

		r = table_next(&t, how->most < left ? how->most : left, &err);
		if (r || !t.rows)
			break;
		rows += t.rows;
		dump(&t, how->cells);
		if (how->written)
			write_rows(&w, columns, &t, how->written);
	}
	if (!r && how->written)
		require(!arrow_put_tail(&w, how->written, &err));
	close(t.csv.feed.fd);
	arrow_writer_done(&w);
	table_done(&t);
	free(columns);
	return r;
}

static void same(const struct buf *a, const struct buf *b)
{
	require(a->len == b->len &&
		(!a->len || !memcmp(a->data, b->data, a->len)));
}

/* As it was read at first, other ways. */
static void other_ways(const void *p, size_t n, const struct buf *cells)
{
	struct buf again = {0};
	struct reading small = {false, 1, 5, &again, NULL};
	struct reading piped = {true, 1000, UINT64_MAX, &again, NULL};

	require(read_all(p, n, &small) == 0);
	same(cells, &again);
	buf_clear(&again);
	if (n <= PIPE_MAX) {
		require(read_all(p, n, &piped) == 0);
		same(cells, &again);
	}
	buf_done(&again);
}

/* What was written once has its texts in UTF-8 and nothing behind its nulls. */
static void again(const struct buf *once)
{
	struct buf cells = {0}, other = {0}, twice = {0}, thrice = {0};
	struct reading second = {false, 0, UINT64_MAX, &cells, &twice};
	struct reading third = {false, 0, UINT64_MAX, &other, &thrice};

	require(read_all(once->data, once->len, &second) == 0);
	require(read_all(twice.data, twice.len, &third) == 0);
	same(&cells, &other);
	same(&twice, &thrice);
	buf_done(&cells);
	buf_done(&other);
	buf_done(&twice);
	buf_done(&thrice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf cells = {0}, once = {0};
	struct reading how = {false, 0, UINT64_MAX, &cells, &once};

	if (read_all(data, size, &how) == 0) {
		other_ways(data, size, &cells);
		again(&once);
	}
	buf_done(&cells);
	buf_done(&once);
	return 0;
}

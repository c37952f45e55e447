/* What Arrow's bytes may not say: each is refused by its sentence, and no cut
 * and no changed byte is read as rows that there are not. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "table/flat_write.h"
#include "table/table.h"

/* ---- reading ---- */

struct answer {
	int code;
	uint64_t rows;
	struct redoma_error err;
};

static struct answer read_fd(int fd)
{
	struct table t = {.format = TABLE_ARROW};
	struct answer a = {0};

	t.csv.feed.fd = fd;
	a.code = table_open(&t, &a.err);
	while (!a.code) {
		a.code = table_next(&t, 2, &a.err);
		if (a.code || !t.rows)
			break;
		a.rows += t.rows;
	}
	table_done(&t);
	return a;
}

static struct answer read_bytes(const void *p, size_t n)
{
	CLEANUP_FD int fd = memfd_create("arrow", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return read_fd(fd);
}

static void load(const char *name, struct buf *b)
{
	char path[512];
	struct redoma_error err;

	snprintf(path, sizeof path, "%s/tests/arrow/%s", TEST_ROOT, name);
	CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fd_read_all(fd, 1 << 20, path, b, &err), 0);
}

static const char *const files[] = {"types.arrow", "types.arrows",
				    "batches.arrow", "batches.arrows",
				    "dictionaries.arrows"};
#define N_FILES (sizeof files / sizeof *files)

/* A file has its end marked; a stream may end behind any message. */
static void no_cut_makes_rows(void **state)
{
	for (size_t i = 0; i < N_FILES; i++) {
		CLEANUP(buf_done) struct buf b = {0};
		bool stream = !!strstr(files[i], "arrows");
		uint64_t whole, rows = 0;
		unsigned ends = 0;

		load(files[i], &b);
		whole = read_bytes(b.data, b.len).rows;
		assert_true(whole > 0);
		for (size_t n = 0; n < b.len; n++) {
			struct answer a = read_bytes(b.data, n);

			if (a.code) {
				assert_int_equal(a.code, REDOMA_E_INVALID);
				assert_true(rows < whole || stream);
				continue;
			}
			assert_true(stream || a.rows == whole);
			assert_true(a.rows >= rows);
			ends += a.rows != rows;
			rows = a.rows;
		}
		assert_int_equal(rows, whole);
		/* Rows come a whole batch at a time. */
		assert_in_range(ends, 1, 5);
	}
	(void)state;
}

static void no_changed_byte_goes_unbounded(void **state)
{
	static const unsigned char by[] = {0xff, 0x01, 0x80};

	for (size_t i = 0; i < N_FILES; i++) {
		CLEANUP(buf_done) struct buf b = {0};

		load(files[i], &b);
		for (size_t k = 0; k < 3 * b.len; k++) {
			struct answer a;

			b.data[k / 3] = (char)(b.data[k / 3] ^ by[k % 3]);
			a = read_bytes(b.data, b.len);
			b.data[k / 3] = (char)(b.data[k / 3] ^ by[k % 3]);
			assert_true(!a.code || a.code == REDOMA_E_INVALID);
			/* Only a batch without buffers has rows at will. */
			assert_true(a.code || a.rows <= 1000);
		}
	}
	(void)state;
}

/* ---- messages as nobody writes them ---- */

struct spec { /* of a column x of utf8, or of an int32 */
	int16_t endian, version;
	uint8_t kind, type;
	int64_t body, rows, node_rows, nulls;
	int nodes, buffers;
	int64_t spans[3][2];
	bool dictionary, compressed, nameless;
	int64_t id;
	size_t name_len;
};

static uint32_t put_field(struct flat_out *o, const struct spec *s)
{
	CLEANUP_FREE char *name = calloc(1, s->name_len + 1);
	struct flat_slot slots[5] = {{4, 0, 0},
				     {1, 1, 0},
				     {1, s->type, 0},
				     {4, 0, 0},
				     {s->dictionary ? 4 : 0, 0, 0}};
	struct flat_slot type[2] = {{4, 32, 0}, {1, 1, 0}};
	struct flat_slot encoding[1] = {{8, s->id, 0}};
	uint32_t at = flat_put_table(o, slots, 5);

	assert_non_null(name);
	memset(name, 'x', s->name_len);
	flat_link(o, slots[0].at,
		  flat_put_text(o, (struct str){name, s->name_len}));
	flat_link(o, slots[3].at,
		  flat_put_table(o, type, s->type == 2 ? 2 : 0));
	if (s->dictionary)
		flat_link(o, slots[4].at, flat_put_table(o, encoding, 1));
	return at;
}

static uint32_t put_schema(struct flat_out *o, const struct spec *s)
{
	struct flat_slot slots[2] = {{2, s->endian, 0}, {4, 0, 0}};
	uint32_t at = flat_put_table(o, slots, 2), list;

	list = flat_put_list(o, (uint32_t)s->nodes, 4);
	flat_link(o, slots[1].at, list);
	for (int i = 0; i < s->nodes; i++) {
		struct spec field = *s;

		field.id += i;
		flat_link(o, list + 4 + 4 * (uint32_t)i, put_field(o, &field));
	}
	return at;
}

static uint32_t put_batch(struct flat_out *o, const struct spec *s)
{
	struct flat_slot slots[4] = {{8, s->rows, 0},
				     {4, 0, 0},
				     {4, 0, 0},
				     {s->compressed ? 4 : 0, 0, 0}};
	int64_t node[2] = {s->node_rows, s->nulls};
	uint32_t at = flat_put_table(o, slots, 4), list;

	list = flat_put_list(o, (uint32_t)s->nodes, 16);
	flat_link(o, slots[1].at, list);
	for (int i = 0; i < s->nodes; i++)
		flat_set(o, list + 4 + 16 * (uint32_t)i, node, 16);
	list = flat_put_list(o, (uint32_t)s->buffers, 16);
	flat_link(o, slots[2].at, list);
	flat_set(o, list + 4, s->spans, 16 * (size_t)s->buffers);
	if (s->compressed)
		flat_link(o, slots[3].at, flat_put_table(o, slots, 0));
	return at;
}

static uint32_t put_dictionary(struct flat_out *o, const struct spec *s)
{
	struct flat_slot slots[2] = {{8, s->id, 0}, {4, 0, 0}};
	uint32_t at = flat_put_table(o, slots, 2);

	flat_link(o, slots[1].at, put_batch(o, s));
	return at;
}

static void put_message(struct buf *b, const struct spec *s)
{
	static const char start[8] = "\xff\xff\xff\xff";
	struct flat_out o = {.b = b};
	struct flat_slot slots[4] = {{2, s->version, 0},
				     {1, s->kind, 0},
				     {4, 0, 0},
				     {8, s->body, 0}};
	uint32_t n;

	assert_int_equal(buf_add(b, start, sizeof start), 0);
	flat_begin(&o);
	flat_link(&o, 0, flat_put_table(&o, slots, 4));
	flat_link(&o, slots[2].at,
		  s->kind == 1   ? put_schema(&o, s)
		  : s->kind == 2 ? put_dictionary(&o, s)
				 : put_batch(&o, s));
	flat_end(&o);
	assert_false(o.failed);
	n = (uint32_t)(b->len - o.base);
	memcpy(b->data + o.base - 4, &n, sizeof n);
}

static const struct spec schema = {
	.version = 4, .kind = 1, .type = 5, .nodes = 1, .name_len = 1};
/* Two texts, "ab" and "c". */
static const struct spec batch = {.version = 4,
				  .kind = 3,
				  .nodes = 1,
				  .rows = 2,
				  .node_rows = 2,
				  .body = 24,
				  .buffers = 3,
				  .spans = {{0, 0}, {0, 12}, {16, 3}}};
static const int32_t offsets[4] = {0, 2, 3, 0};

static struct answer read_two(const struct spec *first,
			      const struct spec *second, const void *values)
{
	CLEANUP(buf_done) struct buf b = {0};

	put_message(&b, first);
	put_message(&b, second);
	assert_int_equal(buf_add(&b, values, 16), 0);
	assert_int_equal(buf_add(&b, "abc\0\0\0\0", 8), 0);
	return read_bytes(b.data, b.len);
}

static void refused(struct answer a, const char *why)
{
	if (a.code != REDOMA_E_INVALID || !strstr(a.err.text, why))
		fail_msg("%d \"%s\", wanted \"%s\"", a.code,
			 a.code ? a.err.text : "", why);
}

static void the_control_is_read(void **state)
{
	struct answer a = read_two(&schema, &batch, offsets);

	assert_int_equal(a.code, 0);
	assert_int_equal(a.rows, 2);
	(void)state;
}

#define WITH(base, ...)                  \
	__extension__({                  \
		struct spec s_ = (base); \
		__VA_ARGS__;             \
		s_;                      \
	})

static void schemas_are_refused(void **state)
{
	struct {
		struct spec s;
		const char *why;
	} rows[] = {
		{WITH(schema, s_.endian = 1), "big-endian"},
		{WITH(schema, s_.version = 2), "before Arrow 0.8"},
		{WITH(schema, s_.nodes = 0), "has 0 columns"},
		{WITH(schema, s_.nodes = 16385), "has 16385 columns"},
		{WITH(schema, s_.name_len = 4097), "more than 4096 bytes"},
		{WITH(schema, s_.type = 12), "type list,"},
		{WITH(schema, s_.type = 99), "type type 99,"},
		{WITH(schema, s_.type = 2; s_.dictionary = true),
		 "type int in a dictionary"},
		{WITH(schema, s_.body = -1), "makes no sense"},
		{WITH(schema, s_.body = 4096), "ends in the middle"},
		{WITH(batch, s_.body = 0), "does not begin with a schema"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		refused(read_two(&rows[i].s, &batch, offsets), rows[i].why);
	(void)state;
}

static void batches_are_refused(void **state)
{
	struct {
		struct spec s;
		const char *why;
	} rows[] = {
		{WITH(batch, s_.compressed = true), "compressed (lz4)"},
		{WITH(batch, s_.nodes = 2), "other columns than the schema"},
		{WITH(batch, s_.nodes = 0), "other columns than the schema"},
		{WITH(batch, s_.buffers = 2), "fewer buffers"},
		{WITH(batch, s_.rows = -1), "at most 2147483647 rows"},
		{WITH(batch, s_.rows = INT64_MAX), "at most 2147483647 rows"},
		{WITH(batch, s_.node_rows = 1), "another number of rows"},
		{WITH(batch, s_.nulls = 1), "shorter than its rows"},
		{WITH(batch, s_.rows = s_.node_rows = 3), "shorter than its"},
		{WITH(batch, s_.spans[1][0] = -8), "outside of its body"},
		{WITH(batch, s_.spans[1][0] = 16), "outside of its body"},
		{WITH(batch, s_.spans[1][1] = INT64_MAX),
		 "outside of its body"},
		{WITH(batch, s_.spans[2][0] = INT64_MAX),
		 "outside of its body"},
		{WITH(batch, s_.body = 25), "ends in the middle"},
		{WITH(batch, s_.body = INT64_MAX), "ends in the middle"},
		{WITH(schema, s_.body = 24), "a second schema"},
		{WITH(batch, s_.kind = 2), "a dictionary that no column has"},
		{WITH(batch, s_.kind = 4), "makes no sense"},
	};

	/* As soon as it begins, before any of its rows. */
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer a = read_two(&schema, &rows[i].s, offsets);

		refused(a, rows[i].why);
		assert_int_equal(a.rows, 0);
	}
	(void)state;
}

static void texts_and_indices_lie_inside(void **state)
{
	static const int32_t down[4] = {2, 0, 3, 0}, far[4] = {0, 2, 4, 0},
			     below[4] = {-1, 2, 3, 0}, none[4] = {0};
	struct spec coded = WITH(schema, s_.dictionary = true);
	struct spec indices = WITH(batch, s_.buffers = 2);
	struct spec short_texts = WITH(batch, s_.spans[2][1] = 2);
	struct spec no_rows = WITH(indices, s_.nulls = 2; s_.spans[0][1] = 1);

	refused(read_two(&schema, &short_texts, offsets),
		"outside of its buffer");
	refused(read_two(&schema, &batch, down), "outside of its buffer");
	refused(read_two(&schema, &batch, far), "outside of its buffer");
	refused(read_two(&schema, &batch, below), "outside of its buffer");
	refused(read_two(&coded, &indices, offsets), "before their dictionary");
	/* Where all are null there need be none. */
	assert_int_equal(read_two(&coded, &no_rows, none).rows, 2);
	(void)state;
}

static void an_index_is_in_its_dictionary(void **state)
{
	struct spec coded = WITH(schema, s_.dictionary = true; s_.id = 7);
	struct spec words = WITH(batch, s_.kind = 2; s_.id = 7);
	struct spec indices = WITH(batch, s_.buffers = 2; s_.spans[1][1] = 8);

	for (int32_t i = -1; i <= 2; i++) {
		CLEANUP(buf_done) struct buf b = {0};
		int32_t values[6] = {0, i};
		struct answer a;

		put_message(&b, &coded);
		put_message(&b, &words);
		assert_int_equal(buf_add(&b, offsets, 16), 0);
		assert_int_equal(buf_add(&b, "abc\0\0\0\0", 8), 0);
		put_message(&b, &indices);
		assert_int_equal(buf_add(&b, values, sizeof values), 0);
		a = read_bytes(b.data, b.len);
		if (i == 0 || i == 1)
			assert_int_equal(a.rows, 2);
		else
			refused(a, "outside of its dictionary");
	}
	(void)state;
}

/* Each has less than they may have together: offsets alone, of empty texts. */
static void dictionaries_have_a_bound_together(void **state)
{
	const int64_t n = 9000000, bytes = 4 * (n + 2);
	struct spec coded =
		WITH(schema, s_.dictionary = true; s_.nodes = 2; s_.id = 7);
	struct spec words = WITH(
		batch, s_.kind = 2; s_.body = bytes; s_.rows = s_.node_rows = n;
		s_.spans[1][1] = bytes; s_.spans[2][0] = s_.spans[2][1] = 0);
	CLEANUP_FD int fd = memfd_create("arrow", MFD_CLOEXEC);
	struct answer a;
	off_t end = 0;

	for (int i = 0; i < 3; i++) {
		CLEANUP(buf_done) struct buf b = {0};

		/* The first of them comes twice, in its own place. */
		words.id = i < 2 ? 7 : 8;
		if (!i)
			put_message(&b, &coded);
		put_message(&b, &words);
		assert_int_equal(pwrite(fd, b.data, b.len, end), b.len);
		end += (off_t)b.len + bytes;
		assert_int_equal(ftruncate(fd, end), 0);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		a = read_fd(fd);
		if (i < 2)
			assert_int_equal(a.code, 0);
	}
	refused(a, "together with dictionary 8");
	(void)state;
}

static void rows_that_need_no_bytes_have_a_bound(void **state)
{
	struct spec nulls = WITH(schema, s_.type = 1);
	struct spec rows = WITH(batch, s_.buffers = 0;
				s_.rows = s_.node_rows = 70000);
	struct answer a = read_two(&nulls, &rows, offsets);

	assert_int_equal(a.code, 0);
	assert_int_equal(a.rows, 70000);
	rows.rows = rows.node_rows = (1 << 24) + 1;
	a = read_two(&nulls, &rows, offsets);
	refused(a, "columns of the Arrow table are of type null");
	assert_int_equal(a.rows, 0);
	(void)state;
}

static void other_files_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *why;
	} rows[] = {
		{"PAR1\0\0\0\0\0", 9, "a Parquet file"},
		{"FEA1\0\0\0\0\0", 9, "Feather V1"},
		{"a,b\n1,2\n", 8, "no Arrow IPC file"},
		{"", 0, "no Arrow IPC file"},
		{"ARROW1\0", 8, "ends in the middle"},
		{"ARROW1\0\0\1\0\0\0\0\0\0\0", 16, "no message begins"},
		{"\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "more than 16 MiB"},
		{"\xff\xff\xff\xff\x08\0\0\0\xff\xff\xff\xff\0\0\0\0", 16,
		 "makes no sense"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		refused(read_bytes(rows[i].bytes, rows[i].n), rows[i].why);
	(void)state;
}

/* A body that is said to be large takes no memory before it is there. */
static void a_pipe_holds_so_much(void **state)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct spec large = WITH(batch, s_.body = INT64_MAX);
	struct spec promised = WITH(batch, s_.body = 256 << 20);
	const struct spec *const specs[] = {&large, &promised};
	const char *const why[] = {"of a pipe at most 256 are held",
				   "ends in the middle"};

	for (int i = 0; i < 2; i++) {
		int ends[2];
		struct answer a;

		buf_clear(&b);
		put_message(&b, &schema);
		put_message(&b, specs[i]);
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(write(ends[1], b.data, b.len), b.len);
		close(ends[1]);
		a = read_fd(ends[0]);
		close(ends[0]);
		refused(a, why[i]);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_control_is_read),
		cmocka_unit_test(no_cut_makes_rows),
		cmocka_unit_test(no_changed_byte_goes_unbounded),
		cmocka_unit_test(schemas_are_refused),
		cmocka_unit_test(batches_are_refused),
		cmocka_unit_test(texts_and_indices_lie_inside),
		cmocka_unit_test(an_index_is_in_its_dictionary),
		cmocka_unit_test(dictionaries_have_a_bound_together),
		cmocka_unit_test(rows_that_need_no_bytes_have_a_bound),
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(a_pipe_holds_so_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* CSV.  Records do not depend on how the bytes come, what is read is written
 * and read as the same, and a cell that is printed reads as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cell.h"
#include "table/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int what)
{
	if (!what)
		abort();
}

static void one_cell(struct str text)
{
	struct cell c = cell_read(text), again;
	struct buf b = {0};

	require(cell_print(&b, &c) == 0);
	again = cell_read((struct str){b.data ? b.data : "", b.len});
	require(again.kind == c.kind ||
		(c.kind == CELL_NUMBER && again.kind != CELL_BLANK));
	if (c.kind == CELL_TIME || c.kind == CELL_DATE ||
	    c.kind == CELL_INTEGER)
		require(again.integer == c.integer);
	if (c.kind == CELL_NUMBER && again.kind == CELL_NUMBER)
		require(!memcmp(&again.number, &c.number, 8));
	buf_done(&b);
}

/* Writes every record again; returns how many there were. */
static size_t read_all(const void *p, size_t n, char delimiter, struct buf *out)
{
	struct csv c = {.delimiter = delimiter};
	struct redoma_error err;
	size_t records = 0;
	bool more = true;

	c.feed.fd = memfd_create("csv", MFD_CLOEXEC);
	require(c.feed.fd >= 0);
	require(write(c.feed.fd, p, n) == (ssize_t)n);
	require(lseek(c.feed.fd, 0, SEEK_SET) == 0);
	while (!csv_next(&c, &more, &err) && more) {
		require(c.n_fields >= 1 && c.line >= 1);
		for (size_t i = 0; i < c.n_fields; i++) {
			one_cell(c.fields[i].text);
			require(c.fields[i].end <= c.raw.len &&
				(!i || c.fields[i].end > c.fields[i - 1].end));
			require(i == 0 || !buf_add(out, ",", 1));
			require(!csv_put(out, c.fields[i].text, ','));
		}
		require(c.fields[c.n_fields - 1].end == c.raw.len);
		require(!buf_add(out, "\n", 1));
		records++;
	}
	close(c.feed.fd);
	csv_done(&c);
	return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf once = {0}, twice = {0};
	size_t n = read_all(data, size, 0, &once);

	/* A first field that begins like a byte order mark would lose it. */
	if (once.len < 3 || memcmp(once.data, "\xef\xbb\xbf", 3)) {
		require(read_all(once.data, once.len, ',', &twice) == n);
		require(once.len == twice.len &&
			(!once.len ||
			 !memcmp(once.data, twice.data, once.len)));
	}
	buf_done(&once);
	buf_done(&twice);
	return 0;
}

/* Prints the records of a CSV file as JSON arrays, a line each; for a test that
 * holds them against another reader. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "table/csv.h"

static int print_record(const struct csv *c)
{
	CLEANUP(buf_done) struct buf b = {0};
	struct json_writer w = {.buf = &b};

	json_write_begin(&w, '[');
	for (size_t i = 0; i < c->n_fields; i++)
		json_write_string(&w, c->fields[i].text.p,
				  c->fields[i].text.len);
	json_write_end(&w, ']');
	return json_write_done(&w) || printf("%s\n", b.data) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	CLEANUP(csv_done) struct csv c = {0};
	struct redoma_error err;
	bool more = true;
	int r = 0;

	if (argc != 3)
		return 2;
	c.delimiter = argv[2][0];
	c.feed.fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	while (!r && more) {
		r = csv_next(&c, &more, &err);
		if (!r && more)
			r = print_record(&c);
	}
	if (r)
		fprintf(stderr, "%s\n", err.text);
	return r ? 1 : 0;
}

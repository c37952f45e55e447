/* The words of rows of both images of formulas: what the host may read and
 * write there while a column program computes many rows at once. */
#include "../unit/engine_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "engine/image.h"
#include "wasi/wasi.h"
#include "wire/batch.h"

#define ROWS 65536u
#define CELL_ERROR 7
#define LOOKS 5000

struct batch {
	struct batch_head head;
	struct batch_column column;
	struct batch_formula formula;
	char name[8], text[96];
	int64_t cells[ROWS];
};

static struct batch batch;
static const char *const images[] = {"js", "py"};
static const char many[] = "n+1-n*2+n%7-n*3+n%5-n*4+n-5+n*6-n+7*n-8+n*9-n%3";

/* Numbers that were seen by a timer, of an image that runs. */
static volatile uint32_t *volatile words;
static volatile uint32_t seen[LOOKS];
static volatile unsigned n_seen;

static void look(int sig)
{
	(void)sig;
	if (words && n_seen < LOOKS)
		seen[n_seen++] = words[0];
}

static void make(const char *text, uint32_t rows)
{
	batch.head = (struct batch_head){
		BATCH_MAGIC, rows, 1, 1, 0, 0, 100000000, 100000000};
	batch.column = (struct batch_column){
		offsetof(struct batch, name), 1, 2, 0,
		offsetof(struct batch, cells), 0, 0};
	batch.formula = (struct batch_formula){
		offsetof(struct batch, name), 0, offsetof(struct batch, text),
		(uint32_t)strlen(text)};
	batch.name[0] = 'n';
	memset(batch.text, 0, sizeof batch.text);
	memcpy(batch.text, text, strlen(text));
	for (uint32_t i = 0; i < ROWS; i++)
		batch.cells[i] = i % 1000;
}

static void open_image(struct jar *j, struct wasi **wasi, const char *name)
{
	char path[512];
	int fd;

	memset(j, 0, sizeof *j);
	snprintf(path, sizeof path, "%s/images/%s-formula.cwasm", TEST_BUILD,
		 name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	jar_use_signals();
	must(j, engine_new(PROFILE_IMAGE, &j->e, &j->err));
	must(j, wasi_new(NULL, wasi, &j->err));
	must(j, module_load_file(j->e, fd, &j->err));
	close(fd);
	must(j, module_link(j->e, *wasi, &j->err));
	must(j, exec_new(j->e, NULL, &j->x, &j->err));
	jar_begin(j, 256 * MIB, 0);
	must(j, image_prepare(j->x, &j->err));
}

static struct batch_answer run(struct jar *j, struct image_result *r)
{
	struct image_request q = {.source = "",
				  .input = &batch,
				  .input_len = sizeof batch,
				  .name = "formula",
				  .batch = true};
	struct batch_answer a;

	must(j, image_run(j->x, &q, &j->out, r, &j->err));
	assert_int_equal(j->out.end, EXEC_DONE);
	assert_int_equal(r->kind, IMAGE_OK);
	assert_true(r->value.len > sizeof a);
	memcpy(&a, r->value.p, sizeof a);
	return a;
}

/* As the worker does it whose timer comes while a block is computed, and that
 * has no time to look again before the block is done. */
static void who_is_told_to_end_in_a_block_is_none_of_its_rows(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct batch_answer a;
		struct batch_cells w;
		struct image_result r;
		struct wasi *wasi;
		struct jar j;

		open_image(&j, &wasi, images[k]);
		make(k ? "n + 1" : "n + 0", 1000);
		batch.cells[300] = INT64_MAX;
		words = image_row_words(j.x);
		words[1] = words[0] + 301;
		a = run(&j, &r);
		words = NULL;
		assert_int_equal(a.columnar, 999);
		memcpy(&w, r.value.p + sizeof a, sizeof w);
		assert_int_equal(r.value.p[w.kinds + 300], CELL_ERROR);
		/* And not #TIME!. */
		assert_memory_equal(r.value.p + a.heap, k ? "#NUM!" : "#VALUE",
				    5);
		jar_close(&j);
		wasi_free(wasi);
	}
}

static void start_looks(bool on)
{
	const suseconds_t us = on ? 100 : 0;
	const struct itimerval t = {{0, us}, {0, us}};
	const struct sigaction sa = {.sa_handler = look, .sa_flags = SA_ONSTACK};

	assert_int_equal(sigaction(SIGALRM, &sa, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &t, NULL), 0);
}

/* Most looks find a block at work: its number is no row's, and never falls
 * behind one that was seen before. */
static void a_block_has_numbers_of_its_own(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct image_result r;
		unsigned blocks = 0;
		struct wasi *wasi;
		uint32_t last = 0, from;
		struct jar j;

		open_image(&j, &wasi, images[k]);
		make(many, ROWS);
		n_seen = 0;
		words = image_row_words(j.x);
		from = words[0];
		start_looks(true);
		assert_int_equal(run(&j, &r).columnar, ROWS);
		start_looks(false);
		assert_int_equal(words[0] - from, ROWS);
		words = NULL;
		for (unsigned i = 0; i < n_seen; i++) {
			uint32_t at = seen[i] - from;

			blocks += at > ROWS;
			assert_true(at <= ROWS || at >= last || last <= ROWS);
			last = at;
		}
		print_message("# %s: %u looks, %u at blocks\n", images[k],
			      n_seen, blocks);
		assert_true(blocks > 0);
		jar_close(&j);
		wasi_free(wasi);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			who_is_told_to_end_in_a_block_is_none_of_its_rows),
		cmocka_unit_test(a_block_has_numbers_of_its_own),
	};

	jar_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

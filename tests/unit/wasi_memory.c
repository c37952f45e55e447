/* Pointers, lengths and counts of a hostile guest: regression list 7 and 14,
 * case C115.  Nothing is done, and nothing is written, before all of them were
 * found good. */
#include "wasi_world.h"

/* Good arguments, with which each call does something; and which of them are
 * pointers, with the bytes that must be there. */
struct pointer {
	unsigned arg, bytes;
};

static const struct row {
	const char *name;
	uint64_t args[9];
	struct pointer pointers[3];
	unsigned n;
} rows[] = {
	{"args_get", {AT_RET, AT_DATA}, {{0, 8}, {1, 9}}, 2},
	{"args_sizes_get", {AT_RET, AT_DATA}, {{0, 4}, {1, 4}}, 2},
	{"environ_get", {AT_RET, AT_DATA}, {{0, 4}, {1, 7}}, 2},
	{"environ_sizes_get", {AT_RET, AT_DATA}, {{0, 4}, {1, 4}}, 2},
	{"clock_res_get", {0, AT_RET}, {{1, 8}}, 1},
	{"clock_time_get", {0, 0, AT_RET}, {{2, 8}}, 1},
	{"fd_fdstat_get", {3, AT_RET}, {{1, SIZE_FDSTAT}}, 1},
	{"fd_filestat_get", {3, AT_RET}, {{1, SIZE_FILESTAT}}, 1},
	{"fd_pread", {4, AT_IOV, 1, 0, AT_RET}, {{1, 8}, {4, 4}}, 2},
	{"fd_prestat_get", {3, AT_RET}, {{1, SIZE_PRESTAT}}, 1},
	{"fd_prestat_dir_name", {3, AT_DATA, 1}, {{1, 1}}, 1},
	{"fd_pwrite", {5, AT_IOV, 1, 0, AT_RET}, {{1, 8}, {4, 4}}, 2},
	{"fd_read", {0, AT_IOV, 1, AT_RET}, {{1, 8}, {3, 4}}, 2},
	{"fd_readdir", {3, AT_DATA, 64, 0, AT_RET}, {{1, 64}, {4, 4}}, 2},
	{"fd_seek", {4, 1, 0, AT_RET}, {{3, 8}}, 1},
	{"fd_tell", {4, AT_RET}, {{1, 8}}, 1},
	{"fd_write", {1, AT_IOV, 1, AT_RET}, {{1, 8}, {3, 4}}, 2},
	{"path_create_directory", {3, AT_PATH, 3}, {{1, 3}}, 1},
	{"path_filestat_get", {3, 0, AT_PATH, 1, AT_RET},
	 {{2, 1}, {4, SIZE_FILESTAT}}, 2},
	{"path_filestat_set_times", {3, 0, AT_PATH, 1, 0, 0, 0}, {{2, 1}}, 1},
	{"path_link", {3, 0, AT_PATH, 1, 3, AT_PATH, 1}, {{2, 1}, {5, 1}}, 2},
	{"path_open", {3, 0, AT_PATH, 3, OFLAG_CREAT, RIGHT_FD_WRITE, 0, 0,
		       AT_RET},
	 {{2, 3}, {8, 4}}, 2},
	{"path_readlink", {3, AT_PATH, 1, AT_DATA, 64, AT_RET},
	 {{1, 1}, {3, 64}, {5, 4}}, 3},
	{"path_remove_directory", {3, AT_PATH, 1}, {{1, 1}}, 1},
	{"path_rename", {3, AT_PATH, 1, 3, AT_PATH, 1}, {{1, 1}, {4, 1}}, 2},
	{"path_symlink", {AT_PATH, 1, 3, AT_PATH, 1}, {{0, 1}, {3, 1}}, 2},
	{"path_unlink_file", {3, AT_PATH, 1}, {{1, 1}}, 1},
	{"poll_oneoff", {AT_PATH2, AT_DATA, 1, AT_RET},
	 {{0, SIZE_SUBSCRIPTION}, {1, SIZE_EVENT}, {3, 4}}, 3},
	{"random_get", {AT_DATA, 64}, {{0, 64}}, 1},
};

/* Grants for 4 (read) and 5 (write), a directory to write. */
static struct world *armed(void)
{
	struct world *t = world_new();

	world_file(t, "f", "0123456789");
	world_grant(t, GRANT_READ_FILE, "/f", "f");
	world_grant(t, GRANT_WRITE_FILE, "/g", NULL)->max_bytes = 1 << 20;
	world_grant(t, GRANT_WRITE_DIR, "/w", NULL);
	world_begin(t);
	must_open(t, "f", 0, RD);
	must_open(t, "g", OFLAG_CREAT, WR);
	memset(t->memory, 0, WORLD_MEMORY);
	iov(t, AT_DATA, 8);
	put_name(t, AT_PATH, "w/n");
	return t;
}

/* Everything a call could have changed. */
struct traces {
	uint64_t nodes, files, out, offset, input, random, size, denials;
};

static struct traces traces_of(const struct world *t)
{
	return (struct traces){
		t->w->tree.n_made,	t->w->n_files,
		t->out[1].len,		t->w->handles[4].offset,
		t->w->input_at,		t->w->random_at,
		t->w->grants[1].bytes,	t->w->report.n_denials,
	};
}

static void try_bad(const struct row *row, unsigned arg, uint32_t value)
{
	struct world *t = armed();
	struct traces before = traces_of(t), after;
	uint8_t *copy = malloc(WORLD_MEMORY);
	uint64_t args[9];
	uint32_t e;

	memcpy(args, row->args, sizeof(args));
	args[arg] = value;
	memcpy(copy, t->memory, WORLD_MEMORY);
	e = call_args(t, row->name, args);
	after = traces_of(t);
	if (e != W_FAULT)
		print_error("%s, argument %u = %#x: %u\n", row->name, arg,
			    value, e);
	assert_int_equal(e, W_FAULT);
	assert_memory_equal(copy, t->memory, WORLD_MEMORY);
	assert_memory_equal(&before, &after, sizeof(before));
	free(copy);
	world_free(t);
}

static void pointers_past_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned k = 0; k < rows[i].n; k++) {
			const struct pointer *p = &rows[i].pointers[k];

			try_bad(&rows[i], p->arg, WORLD_MEMORY - p->bytes + 1);
			try_bad(&rows[i], p->arg, WORLD_MEMORY);
			try_bad(&rows[i], p->arg, UINT32_MAX);
			try_bad(&rows[i], p->arg, UINT32_MAX - p->bytes + 1);
		}
	}
}

/* The last place where each fits is no fault. */
static void pointers_at_the_end(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (unsigned k = 0; k < rows[i].n; k++) {
			const struct pointer *p = &rows[i].pointers[k];
			struct world *t = armed();
			uint64_t args[9];
			uint32_t e;

			memcpy(args, rows[i].args, sizeof(args));
			args[p->arg] = WORLD_MEMORY - p->bytes;
			e = call_args(t, rows[i].name, args);
			if (e == W_FAULT)
				print_error("%s %u\n", rows[i].name, p->arg);
			assert_int_not_equal(e, W_FAULT);
			world_free(t);
		}
	}
}

/* Every function without a memory at all, and with wild arguments. */
static void no_memory_and_wild_arguments(void **state)
{
	static const uint64_t wild[] = {0, 1, UINT32_MAX, INT32_MAX, 1ull << 31,
					UINT64_MAX, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < WASI_CALLS; i++) {
		for (size_t k = 0; k < 7; k++) {
			struct world *t = armed();
			const struct guest none = {NULL, 0};
			wasmtime_val_raw_t a[9];
			uint64_t args[9];

			for (int j = 0; j < 9; j++) {
				args[j] = wild[k];
				a[j].i64 = (int64_t)wild[k];
			}
			call_args(t, call_rows[i].name, args);
			call_rows[i].fn(t->w, &none, a);
			world_free(t);
		}
	}
}

static void io_vectors(void **state)
{
	static const char *const names[] = {"fd_read", "fd_write", "fd_pread",
					    "fd_pwrite"};
	struct world *t = armed();
	uint32_t n = GUEST_IOVS_MAX;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		static const uint32_t counts[] = {1025, 10000000, 1u << 28,
						  1u << 29, UINT32_MAX};
		uint64_t args[9] = {i % 2 ? 5 : 4, AT_IOV, 0, AT_RET, AT_RET};

		if (i > 1)
			args[3] = 0;
		for (size_t k = 0; k < 5; k++) {
			args[2] = counts[k];
			assert_int_equal(call_args(t, names[i], args), W_INVAL);
		}
		/* A bad one at the end of many good ones: nothing is done. */
		for (uint32_t k = 0; k < n; k++) {
			uint32_t v[2] = {AT_DATA, 1};

			if (k == n - 1)
				v[0] = WORLD_MEMORY;
			memcpy(t->memory + AT_PATH2 + k * 8, v, 8);
		}
		args[1] = AT_PATH2;
		args[2] = n;
		assert_int_equal(call_args(t, names[i], args), W_FAULT);
		args[2] = n - 1;
		assert_int_equal(call_args(t, names[i], args), 0);
	}
	/* The same bytes again and again: 128 MiB of output. */
	world_free(t);
	t = armed();
	for (uint32_t k = 0; k < n; k++) {
		uint32_t v[2] = {0, WORLD_MEMORY};

		memcpy(t->memory + AT_PATH2 + k * 8, v, 8);
	}
	(void)call(t, "fd_write", 1, AT_PATH2, n, AT_RET);
	assert_int_equal(t->w->report.end, WASI_END_OUTPUT);
	assert_true(t->out[1].len <= t->output_max);
	world_free(t);
}

static void sum_of_lengths_overflows(void **state)
{
	struct guest g = {NULL, (uint64_t)1 << 30};
	struct guest_span spans[GUEST_IOVS_MAX];
	uint32_t got, v[16];

	(void)state;
	/* Memory that large is not touched: only its first page is. */
	g.base = mmap(NULL, g.size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(g.base != MAP_FAILED);
	for (int i = 0; i < 8; i++) {
		v[i * 2] = 0;
		v[i * 2 + 1] = 1u << 30;
	}
	memcpy(g.base + 64, v, sizeof(v));
	assert_int_equal(guest_iovs(&g, 64, 3, spans, &got), W_SUCCESS);
	assert_int_equal(got, 3);
	assert_int_equal(guest_iovs(&g, 64, 4, spans, &got), W_INVAL);
	assert_int_equal(guest_iovs(&g, 64, 8, spans, &got), W_INVAL);
	assert_int_equal(guest_iovs(&g, (1u << 30) - 8, 1, spans, &got), 0);
	assert_int_equal(got, 0); /* an empty one is left out */
	assert_int_equal(guest_iovs(&g, (1u << 30) - 7, 1, spans, &got),
			 W_FAULT);
	munmap(g.base, g.size);
}

/* Results may lie on top of what is read: the last one written wins. */
static void overlapping_results(void **state)
{
	struct world *t = armed();

	(void)state;
	assert_int_equal(call(t, "args_sizes_get", AT_RET, AT_RET), 0);
	assert_int_equal(ret_u32(t), 9);
	iov(t, AT_IOV, 8); /* reads onto its own io vector */
	assert_int_equal(call(t, "fd_read", 4, AT_IOV, 1, AT_IOV), 0);
	memset(t->memory + AT_DATA, 0, SIZE_SUBSCRIPTION);
	t->memory[AT_DATA + 8] = EVENT_FD_WRITE;
	t->memory[AT_DATA + 16] = 1;
	assert_int_equal(call(t, "poll_oneoff", AT_DATA, AT_DATA, 1,
			      AT_DATA + 4),
			 0);
	assert_int_equal(call(t, "random_get", 0, WORLD_MEMORY), 0);
	assert_int_equal(call(t, "fd_readdir", 3, 0, WORLD_MEMORY, 0, 8), 0);
	world_free(t);
}

/* The second name of a call is looked at before the first is refused. */
static void second_name_is_checked_first(void **state)
{
	struct world *t = armed();
	uint32_t n = put_name(t, AT_PATH, "not/granted");

	(void)state;
	assert_int_equal(call(t, "path_rename", 3, AT_PATH, n, 3, WORLD_MEMORY,
			      1),
			 W_FAULT);
	assert_int_equal(call(t, "path_link", 3, 0, AT_PATH, n, 3,
			      WORLD_MEMORY, 1),
			 W_FAULT);
	assert_int_equal(t->w->report.n_denials, 0);
	world_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pointers_past_the_end),
		cmocka_unit_test(pointers_at_the_end),
		cmocka_unit_test(no_memory_and_wild_arguments),
		cmocka_unit_test(io_vectors),
		cmocka_unit_test(sum_of_lengths_overflows),
		cmocka_unit_test(overlapping_results),
		cmocka_unit_test(second_name_is_checked_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

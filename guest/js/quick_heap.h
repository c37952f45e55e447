/* The interpreter's memory: its limit, and where a run's blocks lie.
 *
 * Part of quick.c alone, which sees inside the interpreter. */
static bool over_limit(const JSMallocState *s, size_t more)
{
	if (!*quick.limit)
		return false;
	if (s->malloc_size <= *quick.limit &&
	    more <= *quick.limit - s->malloc_size)
		return false;
	*quick.oom = true;
	return true;
}

static JSRuntime *quick_rt;

static void *quick_malloc(void *opaque, size_t n)
{
	(void)opaque;
	if (quick_rt && over_limit(&quick_rt->malloc_state, n))
		return NULL;
	return malloc(n);
}

static void *quick_calloc(void *opaque, size_t count, size_t n)
{
	size_t total;

	(void)opaque;
	if (__builtin_mul_overflow(count, n, &total))
		return NULL;
	if (quick_rt && over_limit(&quick_rt->malloc_state, total))
		return NULL;
	return calloc(count, n);
}

static void quick_free(void *opaque, void *p)
{
	(void)opaque;
	free(p);
}

static void *quick_realloc(void *opaque, void *p, size_t n)
{
	size_t old = p ? malloc_usable_size(p) : 0;

	(void)opaque;
	if (n > old && quick_rt &&
	    over_limit(&quick_rt->malloc_state, n - old))
		return NULL;
	return realloc(p, n);
}

static size_t quick_usable(const void *p)
{
	return malloc_usable_size((void *)p);
}

JSRuntime *quick_runtime_new(const uint32_t *limit, bool *oom)
{
	static const JSMallocFunctions mf = {
		.js_calloc = quick_calloc,
		.js_malloc = quick_malloc,
		.js_free = quick_free,
		.js_realloc = quick_realloc,
		.js_malloc_usable_size = quick_usable,
	};

	quick.limit = limit;
	quick.oom = oom;
	quick_rt = JS_NewRuntime2(&mf, NULL);
	return quick_rt;
}

void quick_gc_slack(JSRuntime *rt, size_t slack)
{
	JS_SetGCThreshold(rt, rt->malloc_state.malloc_size + slack);
}

/* ---- what a run writes to, side by side ----
 *
 * A reset copies every page that a run wrote to.  Start-up leaves a free block
 * here and a hole there, one a page; settled, a small run's blocks come from a
 * few pages in a row. */

#define HOLE_MAX ((size_t)64 << 10)
#define PAGE ((size_t)4096)

static unsigned row_blocks(unsigned size)
{
	return size <= 128 ? 8 : 2;
}

static size_t row_bytes(int index)
{
	unsigned size = arena_block_sizes[index];

	return sizeof(JSArena) + (size_t)size * row_blocks(size);
}

/* One block more is counted as used than there is, so that the arena is never
 * empty and never freed. */
static void row_arena(JSRuntime *rt, JSArena *ar, int index)
{
	unsigned size = arena_block_sizes[index], n = row_blocks(size);
	JSArenaState *s = &rt->arena_state;

	ar->block_size_idx = (uint8_t)index;
	ar->n_blocks = (uint16_t)(n + 1);
	ar->n_used_blocks = 1;
	ar->first_free_block = 0;
	for (unsigned i = 0; i < n; i++) {
		JSMallocBlockHeader *b = arena_get_block(ar, i, size);

		b->u.free_next = i + 1 < n ? (uint16_t)(i + 1)
					   : JS_ARENA_FREE_NIL;
		b->block_size_idx = (uint8_t)index;
	}
	list_add(&ar->link, &s->arena_list[index]);
	list_add(&ar->free_link, &s->free_arena_list[index]);
}

/* Takes every hole below top, for good: what is asked for from now on lies
 * above it. */
static void fill_holes(const char *top)
{
	size_t n = HOLE_MAX;
	char *p;

	while (n >= 12) {
		p = malloc(n);
		if (!p)
			__builtin_trap();
		if (p < top)
			continue;
		free(p);
		n -= n > PAGE ? PAGE : n > 512 ? 128 : 16;
	}
}

void quick_settle(JSRuntime *rt)
{
	char *top = malloc(2 * HOLE_MAX), *row;
	size_t n = 0;

	/* A hole of that size would be taken for the end of the heap. */
	if (!top || (char *)sbrk(0) - top > (ptrdiff_t)(4 * HOLE_MAX))
		__builtin_trap();
	free(top);
	fill_holes(top);
	for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++)
		n += row_bytes(i);
	row = aligned_alloc(PAGE, (n + PAGE - 1) & ~(PAGE - 1));
	if (!row)
		__builtin_trap();
	for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
		row_arena(rt, (JSArena *)row, i);
		row += row_bytes(i);
	}
	fill_holes(row);
}

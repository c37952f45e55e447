/* The module "redoma" against a host of our own: what a guest may hand over, and
 * what it is told. */
#include "wasi_world.h"

#include "wire/tool.h"

#define AT_CALL 4096
#define AT_LEN 64

static struct {
	int error; /* of all three */
	size_t n;  /* of the last call */
	uint64_t timeout_us;
	char text[64];
	uint32_t calls, id, len;
} said;

static int say_call(void *data, const void *p, size_t n, uint32_t *ret_id)
{
	(void)data;
	said.n = n;
	memcpy(said.text, p, n < sizeof said.text ? n : sizeof said.text);
	*ret_id = ++said.calls;
	return said.error;
}

static int say_wait(void *data, uint64_t timeout_us, uint32_t *ret_id,
		    uint32_t *ret_len)
{
	(void)data;
	said.timeout_us = timeout_us;
	*ret_id = said.id;
	*ret_len = said.len;
	return said.error;
}

static int say_take(void *data, uint32_t id, const void **ret,
		    uint32_t *ret_len)
{
	(void)data;
	if (id != said.id)
		return ENOENT;
	*ret = "answer";
	*ret_len = said.len;
	return said.error;
}

/* What the import returns; a wait's time is 64 bits. */
static int32_t tool(struct world *t, size_t row, int64_t a, uint32_t b)
{
	struct guest g = {t->memory, WORLD_MEMORY};
	wasmtime_val_raw_t v[2] = {{.i64 = a}, {.i32 = (int32_t)b}};

	return (int32_t)tool_rows[row].fn(t->w, &g, v);
}

static struct world *begin(bool granted)
{
	static char name[] = "t", *names[] = {name, NULL};
	struct world *t = world_new();

	memset(&said, 0, sizeof said);
	t->host.tool_call = say_call;
	t->host.tool_wait = say_wait;
	t->host.tool_take = say_take;
	t->plan.tools = granted ? names : NULL;
	world_begin(t);
	return t;
}

static void calls(void **state)
{
	struct world *t = begin(true);

	(void)state;
	memcpy(t->memory + AT_CALL, "t\0{}", 4);
	assert_int_equal(tool(t, 0, AT_CALL, 4), 1);
	assert_int_equal(said.n, 4);
	assert_memory_equal(said.text, "t\0{}", 4);
	assert_int_equal(tool(t, 0, AT_CALL, 4), 2);
	said.error = EAGAIN;
	assert_int_equal(tool(t, 0, AT_CALL, 4), -W_AGAIN);
	said.error = 0;
	said.calls = 0;
	/* Nothing of these reaches the host. */
	assert_int_equal(tool(t, 0, AT_CALL, 1), -W_INVAL);
	assert_int_equal(tool(t, 0, AT_CALL, 0), -W_INVAL);
	memset(t->memory + AT_CALL, 'n', 1000);
	assert_int_equal(tool(t, 0, AT_CALL, 1000), -W_INVAL);
	assert_int_equal(tool(t, 0, WORLD_MEMORY - 3, 4), -W_FAULT);
	assert_int_equal(tool(t, 0, 0xffffffff, 0xffffffff), -W_FAULT);
	assert_int_equal(said.calls, 0);
	world_free(t);
}

static void without_a_grant(void **state)
{
	struct world *t = begin(false);

	(void)state;
	memcpy(t->memory + AT_CALL, "spy\0{}", 6);
	assert_int_equal(tool(t, 0, AT_CALL, 6), -W_ACCES);
	assert_int_equal(said.calls, 0);
	world_end(t);
	assert_int_equal(t->report.n_denials, 1);
	assert_string_equal(t->report.denials[0].op, "tool");
	assert_memory_equal(t->report.denials[0].path, "spy", 3);
	world_free(t);
}

static void waits(void **state)
{
	struct world *t = begin(true);

	(void)state;
	said.id = 7;
	said.len = 6;
	assert_int_equal(tool(t, 1, -1, AT_LEN), 7);
	assert_true(said.timeout_us == UINT64_MAX);
	assert_int_equal(t->memory[AT_LEN], 6);
	assert_int_equal(tool(t, 1, 1500, AT_LEN), 7);
	assert_int_equal(said.timeout_us, 1500);
	said.timeout_us = 3;
	assert_int_equal(tool(t, 1, 0, WORLD_MEMORY - 3), -W_FAULT);
	assert_int_equal(said.timeout_us, 3);
	said.error = EINTR;
	(void)tool(t, 1, -1, AT_LEN);
	assert_int_equal(t->w->report.end, WASI_END_STOP);
	world_free(t);
}

static void answers(void **state)
{
	struct world *t = begin(true);

	(void)state;
	said.id = 7;
	said.len = 6;
	assert_int_equal(tool(t, 2, 8, AT_LEN), W_NOENT);
	assert_int_equal(tool(t, 2, 7, WORLD_MEMORY - 5), W_FAULT);
	assert_int_equal(tool(t, 2, 7, WORLD_MEMORY - 6), 0);
	assert_memory_equal(t->memory + WORLD_MEMORY - 6, "answer", 6);
	said.error = EPIPE;
	(void)tool(t, 2, 7, AT_LEN);
	assert_int_equal(t->w->report.end, WASI_END_HOST);
	world_free(t);
}

/* One of the three, by its number; what it returned is at AT_SAID. */
static int32_t ask(struct world *t, const uint32_t q[4], int64_t us,
		   uint32_t at, uint32_t len)
{
	struct guest g = {t->memory, WORLD_MEMORY};
	wasmtime_val_raw_t v[4] = {{.i32 = (int32_t)at},
				   {.i32 = (int32_t)len},
				   {.i32 = AT_LEN},
				   {.i32 = AT_LEN + 4}};

	if (at <= WORLD_MEMORY - 24) {
		memcpy(t->memory + at, q, 16);
		memcpy(t->memory + at + 16, &us, 8);
	}
	return (int32_t)tool_rows[3].fn(t->w, &g, v);
}

#define AT_ASK 8192
#define AT_SAID 128
#define ASK(which, a, b) ((const uint32_t[4]){(which), (a), (b), AT_SAID})

static int32_t returned(const struct world *t)
{
	int32_t v;

	memcpy(&v, t->memory + AT_SAID, 4);
	return v;
}

static void asks_for_one_of_them(void **state)
{
	struct world *t = begin(true);

	(void)state;
	memcpy(t->memory + AT_CALL, "t\0{}", 4);
	assert_int_equal(ask(t, ASK(0, AT_CALL, 4), 0, AT_ASK, 24), 0);
	assert_int_equal(returned(t), 1);
	said.id = 7;
	said.len = 6;
	assert_int_equal(ask(t, ASK(1, 0, AT_CALL), 1500, AT_ASK, 24), 0);
	assert_int_equal(returned(t), 7);
	assert_int_equal(said.timeout_us, 1500);
	assert_int_equal(t->memory[AT_CALL], 6);
	assert_int_equal(ask(t, ASK(2, 7, AT_CALL), 0, AT_ASK, 24), 0);
	assert_int_equal(returned(t), 0);
	assert_memory_equal(t->memory + AT_CALL, "answer", 6);
	assert_int_equal(ask(t, ASK(3, 0, 0), 0, AT_ASK, 24), 0);
	assert_int_equal(returned(t), -W_NOSYS);
	world_free(t);
}

static void asks_from_inside_of_memory(void **state)
{
	const uint32_t outside[4] = {0, AT_CALL, 4, WORLD_MEMORY - 3};
	struct world *t = begin(true);

	(void)state;
	memcpy(t->memory + AT_CALL, "t\0{}", 4);
	assert_int_equal(ask(t, ASK(0, AT_CALL, 4), 0, AT_ASK, 23), -W_FAULT);
	assert_int_equal(ask(t, ASK(0, AT_CALL, 4), 0, WORLD_MEMORY - 23, 24),
			 -W_FAULT);
	assert_int_equal(ask(t, outside, 0, AT_ASK, 24), -W_FAULT);
	assert_int_equal(said.calls, 0);
	assert_int_equal(ask(t, ASK(0, WORLD_MEMORY - 3, 4), 0, AT_ASK, 24),
			 0);
	assert_int_equal(returned(t), -W_FAULT);
	assert_int_equal(said.calls, 0);
	world_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(without_a_grant),
		cmocka_unit_test(waits),
		cmocka_unit_test(answers),
		cmocka_unit_test(asks_for_one_of_them),
		cmocka_unit_test(asks_from_inside_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

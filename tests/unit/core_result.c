/* A result as JSON: every field, in order, and none that has nothing to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/result.h"
#include "jail/jail.h"

static struct redoma_result *fresh(void)
{
	struct redoma_result *r = result_new();

	assert_non_null(r);
	snprintf(r->id, sizeof r->id, "r_1");
	return r;
}

static void assert_json(struct redoma_result *r, const char *want)
{
	uint64_t len;
	const char *got = redoma_result_json(r, &len);

	assert_non_null(got);
	assert_string_equal(got, want);
	assert_int_equal(len, strlen(want));
	redoma_result_free(r);
}

static void put(struct buf *b, const char *s)
{
	assert_int_equal(buf_add(b, s, strlen(s)), 0);
}

static void nothing_to_say_is_not_said(void **state)
{
	(void)state;
	assert_json(fresh(),
		    "{\"id\":\"r_1\",\"status\":\"ok\",\"exit_code\":0,"
		    "\"usage\":{\"wall_us\":0,\"cpu_us\":0,\"queue_us\":0,"
		    "\"reset_us\":0,\"page_faults\":0,\"memory_bytes\":0,"
		    "\"read_bytes\":0,\"written_bytes\":0,\"cold\":false},"
		    "\"pure\":false}");
}

static void fill_error(struct redoma_result *r)
{
	r->status = REDOMA_STATUS_WALL_LIMIT;
	r->exit_code = 1;
	r->truncated = true;
	put(&r->out, "o\n");
	put(&r->err, "e\xff");
	put(&r->name, "N");
	put(&r->message, "M\"");
	put(&r->stack, "S");
	r->line = 2;
	r->column = 3;
	r->limit_name = "wall";
	r->limit_hint = "H";
	snprintf(r->limit_value, sizeof r->limit_value, "1s");
	snprintf(r->limit_used, sizeof r->limit_used, "2s");
}

static void fill_lists(struct redoma_result *r)
{
	r->denials = calloc(1, sizeof *r->denials);
	r->files = calloc(2, sizeof *r->files);
	assert_true(r->denials && r->files);
	r->n_denials = 1;
	snprintf(r->denials[0].op, sizeof r->denials[0].op, "open");
	r->denials[0].path = strdup("/etc/x");
	r->denials[0].path_len = 6;
	r->denials[0].count = 4;
	r->n_files = 2;
	r->files[0].path = strdup("/a");
	r->files[0].bytes = 5;
	r->files[0].published = true;
	r->files[1].path = strdup("/b");
	snprintf(r->files[1].why, sizeof r->files[1].why, "W");
}

static void fill_usage(struct redoma_result *r)
{
	r->usage = (struct result_usage){
		.wall_us = 1, .cpu_us = 2, .queue_us = 3, .reset_us = 4,
		.fuel = 5, .memory_bytes = 6, .read_bytes = 7,
		.written_bytes = 8, .page_faults = 9, .reset_wrong = 10,
		.cold = true, .has_fuel = true, .has_verify = true};
	r->walls.abi = SPAWN_ABI;
	r->walls.landlock_abi = 6;
	r->walls.fast_reset = 1;
	memset(r->walls.state, JAIL_ENFORCED, sizeof r->walls.state);
	r->walls.state[JAIL_CGROUP] = JAIL_NOT_REQUESTED;
	r->walls.state[JAIL_NET] = JAIL_UNAVAILABLE;
	snprintf(r->walls.engine, sizeof r->walls.engine, "wasmtime 48");
	r->pure = true;
}

static void every_field_has_its_place(void **state)
{
	struct redoma_result *r = fresh();

	(void)state;
	fill_error(r);
	fill_lists(r);
	fill_usage(r);
	assert_json(
		r,
		"{\"id\":\"r_1\",\"status\":\"wall_limit\",\"exit_code\":1,"
		"\"stdout\":\"o\\n\",\"stderr\":\"e\xef\xbf\xbd\","
		"\"truncated\":true,"
		"\"error\":{\"name\":\"N\",\"message\":\"M\\\"\","
		"\"stack\":\"S\",\"line\":2,\"column\":3},"
		"\"limit\":{\"name\":\"wall\",\"value\":\"1s\","
		"\"used\":\"2s\",\"hint\":\"H\"},"
		"\"denials\":[{\"op\":\"open\",\"path\":\"/etc/x\","
		"\"count\":4,\"allow\":\"read: [{host: \\\"/etc/x\\\", "
		"as: \\\"/etc/x\\\"}]\"}],"
		"\"files\":[{\"path\":\"/a\",\"bytes\":5,\"sha256\":\""
		"00000000000000000000000000000000"
		"00000000000000000000000000000000\","
		"\"published\":true},"
		"{\"path\":\"/b\",\"bytes\":0,\"published\":false,"
		"\"why\":\"W\"}],"
		"\"usage\":{\"wall_us\":1,\"cpu_us\":2,\"queue_us\":3,"
		"\"reset_us\":4,\"page_faults\":9,\"reset_wrong\":10,"
		"\"fuel\":5,\"memory_bytes\":6,\"read_bytes\":7,"
		"\"written_bytes\":8,\"cold\":true},"
		"\"walls\":{\"wasm\":\"wasmtime 48\",\"reset\":\"scan\","
		"\"kernel\":{\"seccomp\":\"enforced\","
		"\"landlock\":\"enforced (abi 6)\","
		"\"namespaces\":\"unavailable\",\"caps\":\"enforced\","
		"\"rlimits\":\"enforced\",\"cgroup\":\"not requested\"}},"
		"\"pure\":true}");
}

static void a_value_is_carried_as_it_stands(void **state)
{
	struct redoma_result *r = fresh();
	uint64_t len = 9;

	(void)state;
	assert_null(redoma_result_value(r, &len));
	assert_int_equal(len, 0);
	put(&r->value, "{\"a\": [1.50]}");
	assert_non_null(strstr(redoma_result_json(r, NULL),
			       "\"value\":{\"a\": [1.50]}"));
	redoma_result_free(r);
}

static void every_status_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i <= REDOMA_STATUS_BREACH; i++) {
		const char *a = redoma_status_name((enum redoma_status)i);

		assert_string_not_equal(a, "unknown");
		for (int j = 0; j < i; j++)
			assert_string_not_equal(
				a, redoma_status_name((enum redoma_status)j));
	}
	assert_string_equal(
		redoma_status_name((enum redoma_status)(REDOMA_STATUS_BREACH +
							1)),
		"unknown");
	assert_string_equal(redoma_status_name((enum redoma_status)-1),
			    "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_say_is_not_said),
		cmocka_unit_test(every_field_has_its_place),
		cmocka_unit_test(a_value_is_carried_as_it_stands),
		cmocka_unit_test(every_status_has_a_name_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a zygote takes for an image: the artefact of a foreign module is never
 * one, whoever sends it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "pool/compile.h"
#include "pool/pool.h"

#define IMAGE TEST_BUILD "/images/js.cwasm"

/* One empty function, exported as _start. */
static const uint8_t module[] = {
	0, 'a', 's', 'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 10,
	1, 6, '_', 's', 't', 'a', 'r', 't', 0, 0, 10, 4, 1, 2, 0, 11};

static struct pool *make(void)
{
	static const struct pool_options o = {
		.worker_path = TEST_BUILD "/redoma-worker", .single = true};
	struct pool *p = NULL;

	assert_int_equal(pool_new(&o, &p, NULL), 0);
	return p;
}

static struct pool_want want(void)
{
	return (struct pool_want){.tenant = "a",
				  .profile = PROFILE_IMAGE,
				  .image_path = IMAGE,
				  .data_bytes = (uint64_t)1 << 30,
				  .file_bytes = 1 << 20};
}

/* The control: this is how an image is taken. */
static void an_image_is_taken(void **state)
{
	struct pool *p = make();
	struct pool_want w = want();
	struct redoma_error err = {0};
	struct slot *s = NULL;

	(void)state;
	if (pool_take(p, &w, &s, &err))
		fail_msg("%s", err.text);
	pool_kill(p, s, false, NULL);
	pool_free(p);
}

static void none_is_taken_under_a_foreign_profile(void **state)
{
	struct pool_want w = want();
	struct redoma_error err = {0};
	struct pool *p = make();
	struct slot *s = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		w.profile = i ? PROFILE_MODULE_FUEL : PROFILE_MODULE;
		assert_int_equal(pool_take(p, &w, &s, &err), REDOMA_E_WORKER);
		assert_non_null(strstr(err.text, "inside the walls"));
		assert_null(s);
	}
	pool_free(p);
}

struct other {
	enum profile profile;
	int calls;
	char why[224];
};

static int compile(void *data, const struct redoma_error *why, int *ret_fd,
		   struct redoma_error *err)
{
	struct other *o = data;
	struct compile_options c = {.program = TEST_BUILD "/redoma-compile",
				    .profile = o->profile};
	CLEANUP_FD int in = fd_sealed("m", module, sizeof module);

	assert_true(in >= 0);
	o->calls++;
	memcpy(o->why, why->text, sizeof o->why);
	return compile_module(&c, in, ret_fd, NULL, err);
}

/* An image that is cut off, and in its place what `profile` makes. */
static int take_other(struct other *o, struct redoma_error *err)
{
	CLEANUP_FD int all = open(IMAGE, O_RDONLY | O_CLOEXEC);
	const char *tmp = getenv("TMPDIR");
	struct pool_want w = want();
	struct pool *p = make();
	struct slot *s = NULL;
	char path[256];
	int fd, r;

	snprintf(path, sizeof path, "%s/half.cwasm", tmp ? tmp : "/tmp");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(all >= 0 && fd >= 0);
	assert_int_equal(fd_copy(all, fd, 4096), 0);
	close(fd);
	w.image_path = path;
	w.other_image = compile;
	w.other_image_data = o;
	r = pool_take(p, &w, &s, err);
	assert_null(s);
	assert_int_equal(o->calls, 1);
	assert_non_null(strstr(o->why, "does not load: "));
	pool_free(p);
	return r;
}

static void a_foreign_artefact_is_not_taken_for_one(void **state)
{
	struct other o = {.profile = PROFILE_MODULE};
	struct redoma_error err = {0};

	(void)state;
	assert_int_equal(take_other(&o, &err), REDOMA_E_WORKER);
	if (!strstr(err.text, "does not load either"))
		fail_msg("%s", err.text);
}

/* Only its settings kept it out: one with those of an image loads, and is found
 * to be no image later. */
static void one_with_the_settings_of_an_image_loads(void **state)
{
	struct other o = {.profile = PROFILE_IMAGE};
	struct redoma_error err = {0};

	(void)state;
	assert_int_not_equal(take_other(&o, &err), 0);
	if (strstr(err.text, "does not load either"))
		fail_msg("%s", err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_image_is_taken),
		cmocka_unit_test(none_is_taken_under_a_foreign_profile),
		cmocka_unit_test(a_foreign_artefact_is_not_taken_for_one),
		cmocka_unit_test(one_with_the_settings_of_an_image_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* redoma_doctor: every control and image by name, in a host program that sees
 * nothing of how it was found out. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>
#include <redoma.h>

static const char *const controls[] = {
	"user", "mount", "pid", "net", "ipc", "uts", "cgroup-namespace",
	"capabilities", "no-new-privs", "landlock", "rlimits", "seccomp",
	"cgroup",
};
#define N_CONTROLS (sizeof controls / sizeof *controls)

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static char *ask(const char *install_dir)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_error err = {0};
	char *text = NULL;

	o.install_dir = install_dir;
	if (redoma_doctor(&o, &text, &err))
		fail_msg("%s", err.text);
	assert_non_null(text);
	assert_int_equal(err.code, 0); /* untouched on success */
	return text;
}

static void says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no %s in %s", what, text);
}

/* How deep the brackets go at the end, outside of texts; -1: out of order. */
static int depth(const char *p)
{
	char open[16];
	int n = 0;
	bool quoted = false;

	for (; *p; p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (!quoted && strchr("{[", *p) && n < 16)
			open[n++] = *p == '{' ? '}' : ']';
		else if (!quoted && strchr("}]", *p) &&
			 (!n || open[--n] != *p))
			return -1;
	}
	return quoted ? -1 : n;
}

static void each_control_has_a_state(void **state)
{
	char *text = ask(TEST_BUILD), what[128];
	const char *at = text;

	(void)state;
	assert_int_equal(depth(text), 0);
	for (size_t i = 0; i < N_CONTROLS; i++) {
		snprintf(what, sizeof what, "{\"name\":\"%s\",\"state\":\"",
			 controls[i]);
		at = strstr(at, what); /* in this order */
		if (!at)
			fail_msg("no %s in %s", what, text);
		at += strlen(what);
		if (!strncmp(at, "enforced\"", 9))
			continue;
		assert_int_equal(strncmp(at, "unavailable\"", 12), 0);
		says(at, "\"remedy\":\"");
	}
	redoma_free(text);
}

/* The runs of all other tests are under these. */
static void what_runs_are_under_is_enforced(void **state)
{
	char *text = ask(TEST_BUILD), what[128];

	(void)state;
	for (size_t i = 0; i + 1 < N_CONTROLS; i++) {
		snprintf(what, sizeof what,
			 "{\"name\":\"%s\",\"state\":\"enforced\"",
			 controls[i]);
		says(text, what);
	}
	says(text, "\"landlock\",\"state\":\"enforced\",\"detail\":\"abi ");
	redoma_free(text);
}

static void images_of_an_install(void **state)
{
	char *text = ask(TEST_BUILD);

	(void)state;
	says(text, "\"install\":{\"state\":\"ready\",\"directory\":\""
	     TEST_BUILD "\"}");
	says(text, "{\"name\":\"js.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"js.fuel.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"js-formula.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"js-formula.fuel.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"py.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"py.fuel.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"py-formula.cwasm\",\"state\":\"ready\"}");
	says(text, "{\"name\":\"py-formula.fuel.cwasm\",\"state\":\"ready\"}");
	redoma_free(text);
}

static void an_install_that_is_not_there(void **state)
{
	char *text = ask("/nowhere/at/all");

	(void)state;
	assert_int_equal(depth(text), 0);
	says(text, "\"install\":{\"state\":\"missing\",\"remedy\":\"");
	says(text, "/nowhere/at/all");
	says(text, "\"images\":[]");
	says(text, "{\"name\":\"seccomp\",\"state\":\"");
	redoma_free(text);
}

static void options_may_be_left_out_but_not_be_wrong(void **state)
{
	struct {
		struct redoma_options o;
		uint64_t unknown;
	} longer = {REDOMA_OPTIONS_INIT, 1};
	struct redoma_error err = {0};
	char *text = NULL, *was = (char *)&longer;

	(void)state;
	assert_int_equal(redoma_doctor(NULL, &text, NULL), 0);
	says(text, "\"controls\":[");
	redoma_free(text);
	text = was;
	longer.o.size = sizeof longer;
	assert_int_equal(redoma_doctor(&longer.o, &text, &err),
			 REDOMA_E_INVALID);
	assert_true(err.code == REDOMA_E_INVALID && err.text[0]);
	assert_ptr_equal(text, was); /* untouched on failure */
	assert_int_not_equal(redoma_doctor(&longer.o, &text, NULL), 0);
	longer.unknown = 0; /* a later caller that wants nothing new */
	assert_int_equal(redoma_doctor(&longer.o, &text, &err), 0);
	redoma_free(text);
}

static volatile sig_atomic_t told;

static void count(int sig)
{
	(void)sig;
	told++;
}

static void the_host_sees_no_child_and_keeps_no_descriptor(void **state)
{
	struct sigaction a = {.sa_handler = count}, was;
	int before = descriptors();

	(void)state;
	sigaction(SIGCHLD, &a, &was);
	for (int i = 0; i < 5; i++)
		redoma_free(ask(TEST_BUILD));
	sigaction(SIGCHLD, &was, NULL);
	assert_int_equal(told, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_control_has_a_state),
		cmocka_unit_test(what_runs_are_under_is_enforced),
		cmocka_unit_test(images_of_an_install),
		cmocka_unit_test(an_install_that_is_not_there),
		cmocka_unit_test(options_may_be_left_out_but_not_be_wrong),
		cmocka_unit_test(the_host_sees_no_child_and_keeps_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

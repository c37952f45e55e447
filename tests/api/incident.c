/* What is kept of a run that touched a wall, and what a handle counts. */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <redoma.h>

#define PATH 4096
#define SECRET "payload-that-is-nobody-elses-business"
#define ATTACK "//!socket"
#define KEPT 1000

struct place {
	char dir[PATH], incidents[2 * PATH];
	struct redoma *handle;
};

static void link_to(const struct place *p, const char *target,
		    const char *name)
{
	char from[2 * PATH], to[2 * PATH];

	snprintf(from, sizeof from, TEST_BUILD "/%s", target);
	snprintf(to, sizeof to, "%s/%s", p->dir, name);
	assert_int_equal(symlink(from, to), 0);
}

static void place_open(struct place *p, const char *below)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_error err = {0};
	const char *tmp = getenv("TMPDIR");

	snprintf(p->dir, sizeof p->dir, "%s/incident-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(p->dir));
	link_to(p, "tests/hostile/traitor", "redoma-worker");
	link_to(p, "images", "images");
	snprintf(p->incidents, sizeof p->incidents, "%s/%s", p->dir, below);
	o.install_dir = p->dir;
	o.incident_dir = p->incidents;
	if (redoma_open(NULL, &o, &p->handle, &err))
		fail_msg("%s", err.text);
}

static void place_close(struct place *p)
{
	char command[3 * PATH];

	redoma_close(p->handle);
	snprintf(command, sizeof command, "rm -r '%s'", p->dir);
	assert_int_equal(system(command), 0);
}

static void run(struct place *p, const char *source, enum redoma_status want,
		char *ret_id)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	const char *json;

	q.language = "js";
	q.source = source;
	q.source_len = strlen(source);
	q.input = "\"" SECRET "\"";
	q.input_len = strlen(q.input);
	q.name = SECRET;
	if (redoma_run(p->handle, &q, &r, &err))
		fail_msg("%s: %s", source, err.text);
	json = redoma_result_json(r, NULL);
	if (redoma_result_status(r) != want)
		fail_msg("%s: %s", source, json);
	if (ret_id)
		sscanf(json, "{\"id\":\"%39[^\"]\"", ret_id);
	redoma_result_free(r);
}

static size_t count_files(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

static struct redoma_stats stats(const struct place *p)
{
	struct redoma_stats s = REDOMA_STATS_INIT;

	assert_int_equal(redoma_stats(p->handle, &s, NULL), 0);
	return s;
}

static void read_file(const char *path, char *room, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, room, size - 1);
	assert_true(n > 0);
	room[n] = '\0';
	close(fd);
}

static void a_breach_leaves_one_file_without_payload(void **state)
{
	struct place p;
	struct stat st;
	char id[64] = "", path[3 * PATH], text[8192];

	(void)state;
	place_open(&p, "state/incidents");
	run(&p, "1+1", REDOMA_STATUS_OK, NULL);
	assert_int_equal(access(p.incidents, F_OK), -1);
	run(&p, ATTACK, REDOMA_STATUS_BREACH, id);
	assert_int_equal(count_files(p.incidents), 1);
	snprintf(path, sizeof path, "%s/%s.json", p.incidents, id);
	read_file(path, text, sizeof text);
	assert_non_null(strstr(text, "\"status\":\"breach\""));
	assert_non_null(strstr(text, "\"profile\":\"js\""));
	assert_non_null(strstr(text, "\"worker_status\":31"));
	assert_non_null(strstr(text, "\"module_sha256\":\""));
	assert_non_null(strstr(text, "\"plan_sha256\":\""));
	assert_null(strstr(text, SECRET));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(p.incidents, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	place_close(&p);
}

/* The kernel writes no more than ten records in five seconds, of anybody. */
#define LOG_TRIES 12

static bool log_is_readable(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[8192];
	bool readable = fd >= 0 && read(fd, record, sizeof record) > 0;

	if (fd >= 0)
		close(fd);
	/* That daemon takes the records. */
	return readable && access("/run/auditd.pid", F_OK);
}

static void newest(const struct place *p, const char *id, char *text,
		   size_t size)
{
	char path[3 * PATH];

	snprintf(path, sizeof path, "%s/%s.json", p->incidents, id);
	read_file(path, text, size);
}

/* 41 is socket(2). */
static void the_call_is_named(void **state)
{
	struct place p;
	char id[64] = "", text[8192] = "";

	(void)state;
	if (!log_is_readable())
		skip();
	place_open(&p, "incidents");
	for (int i = 0; i < LOG_TRIES; i++) {
		run(&p, ATTACK, REDOMA_STATUS_BREACH, id);
		newest(&p, id, text, sizeof text);
		if (strstr(text, "\"syscall\":41,"))
			break;
		assert_non_null(strstr(text, "\"syscall\":null,"));
		sleep(1);
	}
	assert_non_null(strstr(text, "\"syscall\":41,"));
	place_close(&p);
}

/* mov eax, 20; int 0x80: getpid of another architecture, and then the end.
 * Behind an ELF header with one segment. */
static void write_program(const char *path)
{
	static const unsigned char code[] = {0xb8, 20, 0, 0, 0, 0xcd, 0x80,
					     0x31, 0xff, 0xb8, 60, 0, 0, 0,
					     0x0f, 0x05};
	const uint64_t at = 0x400000, head = sizeof(Elf64_Ehdr) +
					     sizeof(Elf64_Phdr);
	const Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64,
					  ELFDATA2LSB, EV_CURRENT},
			      .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_entry = at + head,
			      .e_phoff = sizeof e,
			      .e_ehsize = sizeof e,
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1};
	const Elf64_Phdr ph = {.p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_vaddr = at,
			       .p_paddr = at,
			       .p_filesz = head + sizeof code,
			       .p_memsz = head + sizeof code,
			       .p_align = 4096};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &e, sizeof e), sizeof e);
	assert_int_equal(write(fd, &ph, sizeof ph), sizeof ph);
	assert_int_equal(write(fd, code, sizeof code), sizeof code);
	close(fd);
}

/* False: native programs cannot be run here. */
static bool run_native(const struct place *p, const char *program, char *ret_id)
{
	const char *argv[] = {program, SECRET, NULL};
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};
	const char *json;
	int code;

	q.native = 1;
	q.argv = argv;
	code = redoma_run(p->handle, &q, &r, &err);
	if (code == REDOMA_E_UNSUPPORTED)
		return false;
	if (code)
		fail_msg("%s", err.text);
	json = redoma_result_json(r, NULL);
	if (redoma_result_status(r) != REDOMA_STATUS_BREACH)
		fail_msg("%s", json);
	sscanf(json, "{\"id\":\"%39[^\"]\"", ret_id);
	redoma_result_free(r);
	return true;
}

static void a_native_breach_is_kept(void **state)
{
	struct place p;
	char id[64] = "", program[2 * PATH], text[8192];
	bool ran;

	(void)state;
	place_open(&p, "incidents");
	link_to(&p, "redoma-init", "redoma-init");
	snprintf(program, sizeof program, "%s/other-calls", p.dir);
	assert_int_equal(chmod(p.dir, 0755), 0);
	write_program(program);
	ran = run_native(&p, program, id);
	for (int i = 0; ran && i < LOG_TRIES; i++) {
		newest(&p, id, text, sizeof text);
		if (!log_is_readable() || strstr(text, "\"syscall\":20,"))
			break;
		assert_non_null(strstr(text, "\"syscall\":null,"));
		sleep(1);
		ran = run_native(&p, program, id);
	}
	if (ran) {
		assert_non_null(strstr(text, "\"profile\":\"native\""));
		assert_non_null(strstr(text, "\"program_signal\":31"));
		assert_non_null(strstr(text, "\"root_sha256\":\""));
		assert_non_null(strstr(text, log_is_readable()
						     ? "\"syscall\":20,"
						     : "\"syscall\":null,"));
		assert_null(strstr(text, SECRET));
	}
	place_close(&p);
	if (!ran)
		skip();
}

static void a_handle_counts(void **state)
{
	struct place p;
	struct redoma_stats s;

	(void)state;
	place_open(&p, "incidents");
	run(&p, "1+1", REDOMA_STATUS_OK, NULL);
	run(&p, "null.x", REDOMA_STATUS_ERROR, NULL);
	run(&p, ATTACK, REDOMA_STATUS_BREACH, NULL);
	s = stats(&p);
	assert_int_equal(s.runs, 3);
	assert_int_equal(s.ok, 1);
	assert_int_equal(s.errors, 1);
	assert_int_equal(s.breaches, 1);
	assert_int_equal(s.crashes, 0);
	assert_int_equal(s.incidents, 1);
	assert_int_equal(s.incidents_lost, 0);
	assert_int_equal(s.zygotes, 0); /* the breach ended it */
	run(&p, "1+1", REDOMA_STATUS_OK, NULL);
	assert_int_equal(stats(&p).zygotes, 1);
	place_close(&p);
}

static void what_cannot_be_kept_is_counted(void **state)
{
	struct place p;

	(void)state;
	place_open(&p, "redoma-worker/incidents"); /* below a file */
	run(&p, ATTACK, REDOMA_STATUS_BREACH, NULL);
	assert_int_equal(stats(&p).incidents, 0);
	assert_int_equal(stats(&p).incidents_lost, 1);
	run(&p, "1+1", REDOMA_STATUS_OK, NULL);
	place_close(&p);
}

static void the_oldest_makes_room(void **state)
{
	struct place p;
	char path[3 * PATH];

	(void)state;
	place_open(&p, "incidents");
	assert_int_equal(mkdir(p.incidents, 0700), 0);
	for (int i = 0; i < KEPT; i++) {
		snprintf(path, sizeof path, "%s/r_%04d.json", p.incidents, i);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	run(&p, ATTACK, REDOMA_STATUS_BREACH, NULL);
	assert_int_equal(count_files(p.incidents), KEPT);
	snprintf(path, sizeof path, "%s/r_0000.json", p.incidents);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof path, "%s/r_0001.json", p.incidents);
	assert_int_equal(access(path, F_OK), 0);
	place_close(&p);
}

static void stats_fit_older_and_newer_callers(void **state)
{
	struct place p;
	struct {
		struct redoma_stats s;
		uint64_t more;
	} newer = {REDOMA_STATS_INIT, 7};
	struct redoma_stats older = REDOMA_STATS_INIT;
	struct redoma_error err = {0};

	(void)state;
	place_open(&p, "incidents");
	run(&p, "1+1", REDOMA_STATUS_OK, NULL);
	newer.s.size = sizeof newer;
	assert_int_equal(redoma_stats(p.handle, &newer.s, &err), 0);
	assert_int_equal(newer.s.runs, 1);
	assert_int_equal(newer.more, 7);
	older.size = 2 * sizeof(uint64_t);
	older.ok = 9;
	assert_int_equal(redoma_stats(p.handle, &older, &err), 0);
	assert_int_equal(older.runs, 1);
	assert_int_equal(older.ok, 9);
	older.size = 0;
	assert_int_equal(redoma_stats(p.handle, &older, &err),
			 REDOMA_E_INVALID);
	place_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_breach_leaves_one_file_without_payload),
		cmocka_unit_test(the_call_is_named),
		cmocka_unit_test(a_native_breach_is_kept),
		cmocka_unit_test(a_handle_counts),
		cmocka_unit_test(what_cannot_be_kept_is_counted),
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(stats_fit_older_and_newer_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

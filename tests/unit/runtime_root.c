/* Roots of programs: what is in them, and one sentence for each that cannot
 * be.  Programs and libraries are made by hand below TMPDIR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "runtime/elf.h"
#include "runtime/ldso.h"
#include "runtime/look.h"
#include "runtime/runtime.h"
#include "runtime/user.h"
#include "runtime_elf_made.h"

static char dir[64]; /* of all files here */
static struct elf self;

static const char *at(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned next;
	char *p = paths[next++ % 8];

	snprintf(p, PATH_MAX, "%s%s%s", dir, name[0] ? "/" : "", name);
	return p;
}

static bool is_moved(void)
{
	return !strncmp(dir, "/tmp/", 5) || !strncmp(dir, "/dev/", 5);
}

/* The path inside: below /tmp it moves. */
static const char *inside(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/%s",
		 is_moved() ? "/redoma/host" : "", dir, name);
	return path;
}

static void put(const char *name, const void *p, size_t n, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void put_text(const char *name, const char *text, mode_t mode)
{
	put(name, text, strlen(text), mode);
}

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(at(name), 0755), 0);
	assert_int_equal(chmod(at(name), 0755), 0);
}

/* An object for this machine; a program if it has the host's loader. */
static void put_elf(const char *name, bool program, const char *const *needed,
		    const char *rpath, const char *runpath)
{
	struct made m;

	made_fill(&m, needed, rpath, runpath);
	m.head.e_machine = self.machine;
	if (program) {
		assert_true(strlen(self.interp) < sizeof(m.interp));
		strcpy(m.interp, self.interp);
		m.parts[1].p_filesz = strlen(self.interp) + 1;
	} else {
		m.parts[1].p_type = PT_NOTE;
	}
	put(name, &m, sizeof(m), 0755);
}

static const struct root_entry *find(const struct root *r, const char *guest)
{
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->entries[i].guest, guest))
			return &r->entries[i];
	return NULL;
}

static void need(const struct root *r, const char *guest, enum root_kind kind)
{
	const struct root_entry *e = find(r, guest);

	if (!e || e->kind != kind)
		print_error("%s is not there\n", guest);
	assert_non_null(e);
	assert_int_equal(e->kind, kind);
}

static void get(const char *command, const char *root, struct root *r)
{
	const char *const roots[] = {root, NULL};
	struct redoma_error err = {0};

	if (runtime_root(command, root ? roots : NULL, r, &err))
		print_error("%s\n", err.text);
	assert_int_equal(err.code, 0);
	for (size_t i = 1; i < r->n; i++)
		assert_true(strcmp(r->entries[i - 1].guest,
				   r->entries[i].guest) < 0);
	assert_int_equal(strlen(r->digest), 64);
}

static void refused(const char *command, const char *root, const char *says)
{
	const char *const roots[] = {root, NULL};
	struct redoma_error err = {0};
	struct root r = {.n = 77};
	int rc = runtime_root(command, root ? roots : NULL, &r, &err);

	if (!strstr(err.text, says))
		print_error("%s: %s\n", command, err.text);
	assert_true(rc == REDOMA_E_INVALID || rc == REDOMA_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, says));
	assert_null(strchr(err.text, '\n'));
	assert_int_equal(r.n, 77);
}

static void a_program_of_the_host_has_its_loader_and_etc(void **state)
{
	struct root r = {0};
	char host[PATH_MAX];

	(void)state;
	get("/bin/true", NULL, &r);
	assert_string_equal(r.program, "/bin/true");
	assert_null(r.bootstrap);
	assert_true(look_up(&r, "/bin/true", host));
	assert_true(look_up(&r, self.interp, host));
	assert_false(look_up(&r, "/bin/false", host));
	assert_false(look_up(&r, "/etc/shadow", host));
	need(&r, "/etc/passwd", ROOT_TEXT);
	need(&r, "/etc/group", ROOT_TEXT);
	need(&r, "/etc/nsswitch.conf", ROOT_TEXT);
	assert_non_null(strstr(find(&r, "/etc/passwd")->host,
			       "guest:x:1000:1000:"));
	root_done(&r);
}

static void libraries_are_found_by_the_paths_in_the_file(void **state)
{
	static const char *const a[] = {"liba.so", NULL};
	static const char *const b[] = {"libb.so", NULL};
	struct root r = {0};

	(void)state;
	make_dir("p");
	make_dir("p/bin");
	make_dir("p/lib");
	make_dir("p/more");
	put_elf("p/bin/run", true, a, NULL, "$ORIGIN/../lib");
	put_elf("p/lib/liba.so", false, b, NULL, "${ORIGIN}/../more");
	put_elf("p/more/libb.so.1.2", false, NULL, NULL, NULL);
	assert_int_equal(symlink("libb.so.1.2", at("p/more/libb.so")), 0);
	get(at("p/bin/run"), NULL, &r);
	assert_string_equal(r.program, inside("p/bin/run"));
	need(&r, inside("p/bin/run"), ROOT_FILE);
	assert_true(find(&r, inside("p/bin/run"))->exec);
	assert_string_equal(find(&r, inside("p/bin/run"))->host,
			    at("p/bin/run"));
	need(&r, inside("p/lib/liba.so"), ROOT_FILE);
	assert_true(find(&r, inside("p/lib/liba.so"))->exec);
	need(&r, inside("p/more/libb.so"), ROOT_LINK);
	need(&r, inside("p/more/libb.so.1.2"), ROOT_FILE);
	root_done(&r);
	/* DT_RUNPATH is for what the object itself needs, DT_RPATH for all
	 * that it loads. */
	put_elf("p/bin/run", true, a, NULL, "$ORIGIN/../lib:$ORIGIN/../more");
	put_elf("p/lib/liba.so", false, b, NULL, NULL);
	refused(at("p/bin/run"), NULL, "needs the library \"libb.so\"");
	put_elf("p/bin/run", true, a, "$ORIGIN/../lib:$ORIGIN/../more", NULL);
	get(at("p/bin/run"), NULL, &r);
	need(&r, inside("p/more/libb.so.1.2"), ROOT_FILE);
	root_done(&r);
	put_elf("p/bin/run", true, a, NULL, at("p/lib"));
	put_elf("p/lib/liba.so", false, NULL, NULL, NULL);
	if (is_moved())
		refused(at("p/bin/run"), NULL, "which a jail has of its own");
}

static void a_library_for_another_machine_is_passed_over(void **state)
{
	static const char *const a[] = {"liba.so", NULL};
	struct root r = {0};
	struct made m;

	(void)state;
	make_dir("q");
	make_dir("q/one");
	make_dir("q/two");
	put_elf("q/run", true, a, NULL, "$ORIGIN/one:$ORIGIN/two");
	put_elf("q/two/liba.so", false, NULL, NULL, NULL);
	made_fill(&m, NULL, NULL, NULL);
	m.head.e_machine = EM_ARM;
	put("q/one/liba.so", &m, sizeof(m), 0755);
	get(at("q/run"), NULL, &r);
	need(&r, inside("q/two/liba.so"), ROOT_FILE);
	assert_null(find(&r, inside("q/one/liba.so")));
	root_done(&r);
}

static void what_is_no_program_is_refused(void **state)
{
	struct made m;

	(void)state;
	refused("", NULL, "empty");
	refused("no-such-program", NULL, "no program \"no-such-program\"");
	refused(at("absent"), NULL, "there is no program");
	make_dir("folder");
	refused(at("folder"), NULL, "is a directory");
	refused("/dev/null", NULL, "not a regular file");
	put_text("plain", "hello\n", 0755);
	refused(at("plain"), NULL, "neither an ELF program nor a script");
	put_text("empty", "", 0755);
	refused(at("empty"), NULL, "neither an ELF program nor a script");
	put_elf("mode", true, NULL, NULL, NULL);
	assert_int_equal(chmod(at("mode"), 0644), 0);
	refused(at("mode"), NULL, "not executable");
	assert_int_equal(chmod(at("mode"), geteuid() ? 0011 : 0700), 0);
	refused(at("mode"), NULL, geteuid() ? "by you" : "by others");
	made_fill(&m, NULL, NULL, NULL);
	m.head.e_machine = self.machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
	put("foreign", &m, sizeof(m), 0755);
	refused(at("foreign"), NULL, "was built for");
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	put("small", &m, sizeof(m), 0755);
	refused(at("small"), NULL, "64-bit");
	made_fill(&m, NULL, NULL, NULL);
	m.head.e_machine = self.machine;
	m.head.e_type = ET_REL;
	put("object", &m, sizeof(m), 0755);
	refused(at("object"), NULL, "not a program");
	m.head.e_type = ET_DYN;
	put("loader", &m, sizeof(m), 0755);
	refused(at("loader"), NULL, "asks for the loader");
	m.parts[1].p_offset = UINT64_MAX;
	put("damaged", &m, sizeof(m), 0755);
	refused(at("damaged"), NULL, "damaged");
}

static void a_script_brings_its_interpreter(void **state)
{
	struct root r = {0};
	char host[PATH_MAX];

	(void)state;
	put_text("script", "#!/bin/sh -e\nls\n", 0755);
	get(at("script"), NULL, &r);
	assert_string_equal(r.program, inside("script"));
	assert_true(look_up(&r, "/bin/sh", host));
	assert_true(look_up(&r, "/bin/ls", host));
	root_done(&r);
	put_text("by-env", "#!/usr/bin/env -S A=1 sh\n", 0755);
	get(at("by-env"), NULL, &r);
	assert_true(look_up(&r, "/usr/bin/env", host));
	assert_true(look_up(&r, "/bin/sh", host));
	root_done(&r);
	put_text("none", "#!/opt/absent/interpreter\n", 0755);
	refused(at("none"), NULL, "/opt/absent/interpreter");
	put_text("no-env", "#!/usr/bin/env absent-program\n", 0755);
	refused(at("no-env"), NULL, "absent-program");
	put_text("bare-env", "#!/usr/bin/env\n", 0755);
	refused(at("bare-env"), NULL, "nothing to start");
	put_text("relative", "#!sh\n", 0755);
	refused(at("relative"), NULL, "whole path");
	put_text("itself", "", 0755);
	snprintf(host, sizeof(host), "#!%s\n", at("itself"));
	put_text("itself", host, 0755);
	refused(at("itself"), NULL, "interpreter");
	/* The root is given: nothing is added for a script. */
	refused(at("script"), "runtime:sh", "is not in the root");
}

static void a_shim_of_pyenv_is_what_it_stands_for(void **state)
{
	struct root r = {0};

	(void)state;
	make_dir("env");
	make_dir("env/shims");
	make_dir("env/versions");
	make_dir("env/versions/3.9");
	make_dir("env/versions/3.9/bin");
	put_text("env/shims/tool", "#!/bin/sh\n", 0755);
	put_elf("env/versions/3.9/bin/tool", true, NULL, NULL, NULL);
	refused(at("env/shims/tool"), NULL, "shim of pyenv");
	put_text("env/version", "3.8\n3.9\n", 0644);
	get(at("env/shims/tool"), NULL, &r);
	assert_string_equal(r.program, inside("env/versions/3.9/bin/tool"));
	root_done(&r);
}

static void another_file_is_another_digest(void **state)
{
	struct timeval times[2] = {{1000, 0}, {1000, 0}};
	struct root a = {0}, b = {0}, c = {0};

	(void)state;
	put_elf("digest", true, NULL, NULL, NULL);
	get(at("digest"), NULL, &a);
	get(at("digest"), NULL, &b);
	assert_string_equal(a.digest, b.digest);
	assert_int_equal(utimes(at("digest"), times), 0);
	get(at("digest"), NULL, &c);
	assert_string_not_equal(a.digest, c.digest);
	root_done(&a);
	root_done(&b);
	root_done(&c);
}

static void a_directory_is_a_whole_root(void **state)
{
	const char *const two[] = {at("root"), "runtime:sh", NULL};
	struct redoma_error err = {0};
	struct root r = {0};

	(void)state;
	refused("sh", at("absent"), "does not exist");
	put_text("file", "", 0644);
	refused("sh", at("file"), "not a directory");
	make_dir("root");
	refused("sh", at("root"), "is empty");
	make_dir("root/usr");
	make_dir("root/usr/bin");
	make_dir("root/proc");
	assert_int_equal(symlink("usr/bin", at("root/bin")), 0);
	assert_int_equal(symlink("/usr/bin/real", at("root/usr/bin/tool")), 0);
	put_text("root/usr/bin/real", "#!/bin/interp\n", 0755);
	refused("tool", at("root"), "asks for the interpreter");
	put_elf("root/usr/bin/interp", true, NULL, NULL, NULL);
	get("tool", at("root"), &r);
	assert_string_equal(r.program, "/usr/bin/tool");
	need(&r, "/usr", ROOT_DIR);
	need(&r, "/bin", ROOT_LINK);
	assert_null(find(&r, "/proc"));
	assert_string_equal(find(&r, "/usr")->host, at("root/usr"));
	root_done(&r);
	refused("interp", at("root"), "asks for the loader");
	refused("ls", at("root"), "is not in the root");
	refused("/bin/absent", at("root"), "is not in the root");
	assert_int_equal(runtime_root("sh", two, &r, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "whole root"));
	assert_int_equal(chmod(at("root"), 0777), 0);
	refused("tool", at("root"), "by others");
	assert_int_equal(chmod(at("root"), 01777), 0);
	refused("tool", at("root"), "by others");
	assert_int_equal(chmod(at("root"), 0755), 0);
	assert_int_equal(chmod(at("root/usr"), 0775), 0);
	refused("tool", at("root"), "by others");
	assert_int_equal(chmod(at("root/usr"), 0755), 0);
}

/* Also where the root itself is closed. */
static void the_way_to_a_program_is_closed(void **state)
{
	static const char *const ways[] = {"root/usr/bin", "root/usr/bin/real",
					   "root/usr/bin/interp", "."};
	struct root r = {0};

	(void)state;
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		assert_int_equal(chmod(at(ways[i]), 0757), 0);
		refused("tool", at("root"), "depends on it");
		assert_int_equal(chmod(at(ways[i]), 0755), 0);
	}
	/* What is there cannot be replaced in a sticky one. */
	assert_int_equal(chmod(at("root/usr/bin"), 01777), 0);
	get("tool", at("root"), &r);
	root_done(&r);
	assert_int_equal(chmod(at("root/usr/bin"), 0755), 0);
}

/* After a_directory_is_a_whole_root, whose root it uses. */
static void a_bundle_names_its_root(void **state)
{
	char oci[PATH_MAX];
	struct root r = {0};

	(void)state;
	snprintf(oci, sizeof(oci), "oci:%s", at("bundle"));
	make_dir("bundle");
	refused("tool", oci, "no config.json");
	put_text("bundle/index.json", "{}", 0644);
	refused("tool", oci, "layers are packed");
	put_text("bundle/config.json", "{", 0646);
	refused("tool", oci, "config.json\" may be changed by others");
	put_text("bundle/config.json", "{", 0644);
	refused("tool", oci, "is not JSON");
	put_text("bundle/config.json", "{}", 0644);
	refused("tool", oci, "names no root.path");
	put_text("bundle/config.json", "{\"root\":{\"path\":\"../root\"}}", 0644);
	refused("tool", oci, "names no root.path");
	put_text("bundle/config.json", "{\"root\":{\"path\":\"rootfs\"}}", 0644);
	refused("tool", oci, "does not exist");
	assert_int_equal(symlink("../root", at("bundle/rootfs")), 0);
	refused("tool", oci, "is not below its bundle");
	assert_int_equal(unlink(at("bundle/rootfs")), 0);
	assert_int_equal(symlink(".", at("bundle/rootfs")), 0);
	refused("tool", oci, "is not below its bundle");
	assert_int_equal(unlink(at("bundle/rootfs")), 0);
	assert_int_equal(rename(at("root"), at("bundle/rootfs")), 0);
	get("tool", oci, &r);
	assert_string_equal(find(&r, "/usr")->host, at("bundle/rootfs/usr"));
	root_done(&r);
}

static void runtimes_are_named(void **state)
{
	struct root r = {0};
	char host[PATH_MAX];

	(void)state;
	refused("sh", "runtime:absent", "no runtime \"absent\"");
	refused("sh", "runtime:../x", "no runtime");
	get("sh", "runtime:sh", &r);
	assert_true(look_up(&r, "/bin/cat", host));
	root_done(&r);
	get("ls", "runtime:sh", &r);
	assert_true(look_up(&r, r.program, host));
	root_done(&r);
	get("/bin/ls", "runtime:sh", &r);
	assert_string_equal(r.program, "/bin/ls");
	root_done(&r);
	refused("node", "runtime:sh", "is not in the root");
}

/* An environment that nobody has reviewed: its links may lead anywhere. */
static void links_of_modules_do_not_lead_out(void **state)
{
	struct root r = {0};

	(void)state;
	make_dir("secret");
	make_dir("secret/python3.7");
	make_dir("venv");
	make_dir("venv/bin");
	make_dir("venv/lib");
	make_dir("venv/lib/python3.7");
	make_dir("venv/lib/python3.7/site-packages");
	make_dir("venv/more");
	put_text("secret/key", "k", 0644);
	put_text("venv/lib/python3.7/os.py", "", 0644);
	put_elf("venv/bin/python3.7", true, NULL, NULL, NULL);
	assert_int_equal(symlink("../../more", at("venv/lib/python3.7/in")), 0);
	assert_int_equal(symlink("/usr", at("venv/lib/python3.7/site-packages/"
					    "all")), 0);
	assert_int_equal(symlink(at("secret"), at("venv/lib/python3.7/out")), 0);
	assert_int_equal(symlink("../../../secret",
				 at("venv/lib/python3.7/up")), 0);
	assert_int_equal(symlink(at("secret/key"), at("venv/pyvenv.cfg")), 0);
	assert_int_equal(symlink("../../secret", at("venv/lib/python37.zip")),
			 0);
	assert_int_equal(symlink("../secret", at("venv/lib64")), 0);
	get(at("venv/bin/python3.7"), NULL, &r);
	need(&r, inside("venv/lib/python3.7"), ROOT_DIR);
	need(&r, inside("venv/more"), ROOT_DIR);
	need(&r, "/usr", ROOT_DIR);
	for (size_t i = 0; i < r.n; i++)
		assert_null(strstr(r.entries[i].host, "secret"));
	root_done(&r);
}

static void a_language_has_its_bootstrap(void **state)
{
	struct redoma_error err = {0};
	struct root r = {0};

	(void)state;
	assert_int_equal(runtime_language("cobol", dir, NULL, &r, &err),
			 REDOMA_E_UNSUPPORTED);
	assert_int_equal(runtime_language("py", at("absent"), NULL, &r, &err),
			 REDOMA_E_SYSTEM);
	put_text("bootstrap.py", "print(1)\n", 0644);
	assert_int_equal(runtime_language("py", dir, NULL, &r, &err), 0);
	assert_string_equal(r.bootstrap, "py");
	assert_string_equal(find(&r, "/redoma/bootstrap.py")->host,
			    "print(1)\n");
	root_done(&r);
}

static void the_loaders_configuration_is_read(void **state)
{
	struct ldso l = {.lib = "lib64", .platform = "x86_64"};
	char ret[PATH_MAX];

	(void)state;
	make_dir("conf.d");
	put_text("ld.so.conf",
		 "# all\n/opt/a/ # first\ninclude conf.d/*.conf\n"
		 "relative\n\t/opt/d:/opt/e\nhwcap 1 x\ninclude absent\n",
		 0644);
	put_text("conf.d/1.conf", "/opt/b\n", 0644);
	put_text("conf.d/2.conf", "/opt/c=libc6", 0644);
	assert_int_equal(ldso_read(&l, at("ld.so.conf"), NULL), 0);
	assert_int_equal(l.n_conf, 5);
	for (int i = 0; i < 5; i++) {
		char want[] = "/opt/?";

		want[5] = (char)('a' + i);
		assert_string_equal(l.conf[i], want);
	}
	ldso_done(&l);
	put_text("conf.d/3.conf", "include 3.conf\n", 0644);
	assert_int_equal(ldso_read(&l, at("ld.so.conf"), NULL),
			 REDOMA_E_UNSUPPORTED);
	ldso_done(&l);
	assert_true(ldso_nth(&l, "/a:$ORIGIN/$LIB:x", 1, "/o", ret));
	assert_string_equal(ret, "/o/lib64");
	assert_true(ldso_nth(&l, "/a:$ORIGIN/$LIB:x", 2, "/o", ret));
	assert_string_equal(ret, "");
	assert_true(ldso_nth(&l, "/a/${PLATFORM}/$X", 0, "/o", ret));
	assert_string_equal(ret, "");
	assert_false(ldso_nth(&l, "/a:", 2, "/o", ret));
}

static void rows_of_the_user_are_kept(void **state)
{
	char *files[] = {(char[]){"/a \"b\""}, NULL};
	struct user_row row = {(char[]){"/bin/true"}, files, 1};
	struct user_row back = {0};
	struct redoma_error err = {0};
	char **names;
	bool found;

	(void)state;
	assert_int_equal(user_write(at("rows/x"), "one", &row, &err), 0);
	assert_int_equal(user_write(at("rows/x"), "one", &row, &err),
			 REDOMA_E_INVALID);
	assert_int_equal(user_read(at("rows/x"), "one", &back, &found, &err),
			 0);
	assert_true(found);
	assert_string_equal(back.program, "/bin/true");
	assert_int_equal(back.n_files, 1);
	assert_string_equal(back.files[0], "/a \"b\"");
	user_row_done(&back);
	assert_int_equal(user_read(at("rows/x"), "two", &back, &found, &err),
			 0);
	assert_false(found);
	assert_int_equal(user_names(at("rows/x"), &names, &err), 0);
	assert_string_equal(names[0], "one");
	assert_null(names[1]);
	free(names[0]);
	free(names);
}

static void a_bad_row_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{"", "holds no program"},
		{"files: []", "names no program"},
		{"program: x", "whole path"},
		{"program: /x\nprogramme: /y", "program"},
		{"program: [/x]", "program"},
		{"program: /x\nfiles: /y", "files"},
	};
	struct user_row row = {0};
	bool found;

	(void)state;
	make_dir("bad");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct redoma_error err = {0};

		put_text("bad/row.yaml", bad[i][0], 0644);
		assert_int_equal(user_read(at("bad"), "row", &row, &found,
					   &err),
				 REDOMA_E_INVALID);
		assert_non_null(strstr(err.text, bad[i][1]));
	}
	put_text("bad/row.yaml", "program: /x\n", 0666);
	assert_int_equal(user_read(at("bad"), "row", &row, &found, NULL),
			 REDOMA_E_INVALID);
	assert_non_null(user_name_flaw(""));
	assert_non_null(user_name_flaw(".x"));
	assert_non_null(user_name_flaw("a/b"));
	assert_non_null(user_name_flaw("a b"));
	assert_null(user_name_flaw("a.b-c_9"));
}

static int set_up(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_input in = {.fd = fd};
	const char *tmp = getenv("TMPDIR");
	struct stat st;

	(void)state;
	umask(022);
	snprintf(dir, sizeof(dir), "%s/root.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || chmod(dir, 0755) || fstat(fd, &st))
		return -1;
	in.size = (uint64_t)st.st_size;
	return elf_read(&in, "self", &self, NULL) || close(fd);
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	elf_done(&self);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_of_the_host_has_its_loader_and_etc),
		cmocka_unit_test(libraries_are_found_by_the_paths_in_the_file),
		cmocka_unit_test(a_library_for_another_machine_is_passed_over),
		cmocka_unit_test(what_is_no_program_is_refused),
		cmocka_unit_test(a_script_brings_its_interpreter),
		cmocka_unit_test(a_shim_of_pyenv_is_what_it_stands_for),
		cmocka_unit_test(another_file_is_another_digest),
		cmocka_unit_test(a_directory_is_a_whole_root),
		cmocka_unit_test(the_way_to_a_program_is_closed),
		cmocka_unit_test(a_bundle_names_its_root),
		cmocka_unit_test(runtimes_are_named),
		cmocka_unit_test(links_of_modules_do_not_lead_out),
		cmocka_unit_test(a_language_has_its_bootstrap),
		cmocka_unit_test(the_loaders_configuration_is_read),
		cmocka_unit_test(rows_of_the_user_are_kept),
		cmocka_unit_test(a_bad_row_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

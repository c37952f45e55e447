/* The reader of ELF headers: what it says of a file made by hand and of the
 * host's own, and that every damage is told and none is followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/elf.h"
#include "runtime_elf_made.h"

static const char *const two[] = {"liba.so.1", "libb.so", NULL};

/* In a buffer of exactly n bytes, so that a sanitizer sees a read past it. */
static int read_bytes(const void *p, size_t n, struct elf *ret,
		      struct redoma_error *err)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct elf_input in = {.bytes = copy, .size = n, .fd = -1};
	int rc;

	assert_non_null(copy);
	memcpy(copy, p, n);
	rc = elf_read(&in, "made", ret, err);
	free(copy);
	return rc;
}

static void refused(const struct made *m, const char *says)
{
	struct redoma_error err = {0};
	struct elf e = {.type = 77};

	assert_int_equal(read_bytes(m, sizeof(*m), &e, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, says));
	assert_string_equal(err.where, "runtime");
	assert_int_equal(e.type, 77);
}

static void what_a_file_needs_is_read(void **state)
{
	struct redoma_error err = {0};
	struct elf e = {0};
	struct made m;

	(void)state;
	made_fill(&m, two, "/opt/a", "$ORIGIN/../lib:/opt/b");
	made_entry(&m, DT_SONAME, made_name(&m, "libme.so.2"));
	assert_int_equal(read_bytes(&m, sizeof(m), &e, &err), 0);
	assert_int_equal(e.type, ET_DYN);
	assert_int_equal(e.machine, EM_X86_64);
	assert_true(e.dynamic);
	assert_string_equal(e.interp, MADE_INTERP);
	assert_int_equal(e.n_needed, 2);
	assert_string_equal(e.needed[0], "liba.so.1");
	assert_string_equal(e.needed[1], "libb.so");
	assert_string_equal(e.rpath, "/opt/a");
	assert_string_equal(e.runpath, "$ORIGIN/../lib:/opt/b");
	assert_string_equal(e.soname, "libme.so.2");
	elf_done(&e);
	assert_null(e.needed);
}

static void a_static_program_needs_nothing(void **state)
{
	struct elf e = {0};
	struct made m;

	(void)state;
	made_fill(&m, NULL, NULL, NULL);
	m.head.e_phnum = 1;
	m.head.e_type = ET_EXEC;
	assert_int_equal(read_bytes(&m, sizeof(m), &e, NULL), 0);
	assert_false(e.dynamic);
	assert_null(e.interp);
	assert_int_equal(e.n_needed, 0);
	elf_done(&e);
}

static void a_file_cut_anywhere_is_refused_or_read(void **state)
{
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, "/opt/b");
	for (size_t n = 0; n < sizeof(m); n++) {
		struct redoma_error err = {0};
		struct elf e = {0};
		int rc = read_bytes(&m, n, &e, &err);

		assert_int_equal(rc, REDOMA_E_INVALID);
		assert_true(err.text[0]);
	}
}

static void any_byte_may_be_any_other(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct made m;

	(void)state;
	made_fill(&m, two, "/opt/a", "/opt/b");
	for (size_t i = 0; i < sizeof(m); i++)
		for (size_t v = 0; v < sizeof(values); v++) {
			struct redoma_error err = {0};
			struct made other = m;
			struct elf e = {0};
			int rc;

			((uint8_t *)&other)[i] = values[v];
			rc = read_bytes(&other, sizeof(other), &e, &err);
			assert_true(rc == 0 || rc == REDOMA_E_INVALID);
			assert_true(!rc || err.text[0]);
			elf_done(&e);
		}
}

static void the_head_is_checked(void **state)
{
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, NULL);
	m.head.e_ident[0] = 'x';
	refused(&m, "not an ELF file");
	made_fill(&m, two, NULL, NULL);
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	refused(&m, "64-bit little-endian");
	made_fill(&m, two, NULL, NULL);
	m.head.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(&m, "64-bit little-endian");
	made_fill(&m, two, NULL, NULL);
	m.head.e_ident[EI_VERSION] = 2;
	refused(&m, "version");
}

static void the_table_of_parts_is_checked(void **state)
{
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, NULL);
	m.head.e_phnum = 0xffff;
	refused(&m, "too many program headers");
	made_fill(&m, two, NULL, NULL);
	m.head.e_phentsize = 32;
	refused(&m, "wrong size");
	made_fill(&m, two, NULL, NULL);
	m.head.e_phoff = sizeof(m) - 10;
	refused(&m, "beyond its end");
	made_fill(&m, two, NULL, NULL);
	m.head.e_phoff = UINT64_MAX - 8;
	refused(&m, "beyond its end");
}

static void the_interpreter_is_checked(void **state)
{
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, NULL);
	m.parts[1].p_offset = UINT64_MAX - 4;
	refused(&m, "beyond its end");
	made_fill(&m, two, NULL, NULL);
	m.parts[1].p_filesz = 5;
	refused(&m, "without an end");
	made_fill(&m, two, NULL, NULL);
	m.parts[1].p_filesz = UINT64_MAX;
	refused(&m, "beyond its end");
	made_fill(&m, two, NULL, NULL);
	m.interp[0] = '\0';
	refused(&m, "empty name");
	made_fill(&m, two, NULL, NULL);
	m.parts[1].p_filesz = 0;
	refused(&m, "without an end");
}

static void the_dynamic_section_is_checked(void **state)
{
	static struct {
		struct made made;
		Elf64_Dyn more[ELF_DYNAMIC_MAX + 1];
	} big;
	struct redoma_error err = {0};
	struct elf e = {0};
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, NULL);
	m.parts[2].p_offset = sizeof(m) - 8;
	refused(&m, "beyond its end");
	made_fill(&m, two, NULL, NULL);
	m.parts[2].p_offset = UINT64_MAX;
	refused(&m, "beyond its end");
	made_fill(&m, two, NULL, NULL);
	m.parts[2].p_filesz = UINT64_MAX;
	refused(&m, "beyond its end");
	made_fill(&big.made, two, NULL, NULL);
	big.made.parts[2].p_offset = offsetof(__typeof__(big), more);
	big.made.parts[2].p_filesz = sizeof(big.more);
	for (size_t i = 0; i <= ELF_DYNAMIC_MAX; i++)
		big.more[i].d_tag = DT_DEBUG;
	assert_int_equal(read_bytes(&big, sizeof(big), &e, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "endless"));
	for (size_t i = 0; i <= ELF_NEEDED_MAX; i++)
		big.more[i].d_tag = DT_NEEDED;
	assert_int_equal(read_bytes(&big, sizeof(big), &e, &err),
			 REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "too many libraries"));
}

/* The value of the first entry with that tag. */
static Elf64_Xword *value(struct made *m, int64_t tag)
{
	for (size_t i = 0; i < MADE_DYNAMIC; i++)
		if (m->dynamic[i].d_tag == tag)
			return &m->dynamic[i].d_un.d_val;
	fail();
	return NULL;
}

static void the_names_are_checked(void **state)
{
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_STRTAB) = MADE_ADDRESS - 1;
	refused(&m, "table of names");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_STRTAB) = UINT64_MAX - 2;
	refused(&m, "table of names");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_STRSZ) = UINT64_MAX;
	refused(&m, "table of names");
	made_fill(&m, two, NULL, "/opt");
	m.parts[0].p_offset = UINT64_MAX - 1;
	refused(&m, "table of names");
	made_fill(&m, two, NULL, "/opt");
	m.parts[0].p_type = PT_NOTE;
	refused(&m, "table of names");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_NEEDED) = MADE_NAMES;
	refused(&m, "outside its table");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_RUNPATH) = UINT64_MAX - 1;
	refused(&m, "outside its table");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_NEEDED) = UINT64_MAX;
	refused(&m, "outside its table");
	made_fill(&m, two, NULL, "/opt");
	*value(&m, DT_NEEDED) = 0;
	refused(&m, "empty name");
	made_fill(&m, two, NULL, "/opt");
	memset(m.names + MADE_NAMES - 8, 'x', 8);
	*value(&m, DT_NEEDED) = MADE_NAMES - 4;
	refused(&m, "without an end");
}

static void files_of_the_host_are_read(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_input in = {.fd = fd};
	struct elf e = {0};
	struct stat st;
	bool libc = false;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	in.size = (uint64_t)st.st_size;
	assert_int_equal(elf_read(&in, "self", &e, NULL), 0);
	for (size_t i = 0; i < e.n_needed; i++)
		libc = libc || strstr(e.needed[i], "libc.");
	assert_true(libc);
	assert_non_null(e.interp);
	elf_done(&e);
	close(fd);
}

static void a_file_that_shrank_is_refused(void **state)
{
	int fd = memfd_create("made", MFD_CLOEXEC);
	struct elf_input in = {.size = sizeof(struct made), .fd = fd};
	struct redoma_error err = {0};
	struct elf e = {0};
	struct made m;

	(void)state;
	made_fill(&m, two, NULL, NULL);
	assert_int_equal(write(fd, &m, sizeof(m)), sizeof(m));
	assert_int_equal(elf_read(&in, "made", &e, &err), 0);
	elf_done(&e);
	assert_int_equal(ftruncate(fd, offsetof(struct made, names)), 0);
	assert_int_equal(elf_read(&in, "made", &e, &err), REDOMA_E_INVALID);
	assert_non_null(strstr(err.text, "shrank"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_needs_is_read),
		cmocka_unit_test(a_static_program_needs_nothing),
		cmocka_unit_test(a_file_cut_anywhere_is_refused_or_read),
		cmocka_unit_test(any_byte_may_be_any_other),
		cmocka_unit_test(the_head_is_checked),
		cmocka_unit_test(the_table_of_parts_is_checked),
		cmocka_unit_test(the_interpreter_is_checked),
		cmocka_unit_test(the_dynamic_section_is_checked),
		cmocka_unit_test(the_names_are_checked),
		cmocka_unit_test(files_of_the_host_are_read),
		cmocka_unit_test(a_file_that_shrank_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

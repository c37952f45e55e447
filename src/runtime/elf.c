#include "runtime/elf.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"

#define WHERE "runtime"
#define NO_OFFSET UINT64_MAX

struct part { /* a program header */
	uint32_t type;
	uint64_t offset, address, size; /* size: what the file holds of it */
};

struct dynamic { /* what the dynamic section says, by number */
	uint64_t strings, strings_size; /* address; NO_OFFSET: none */
	uint64_t soname, rpath, runpath;
	uint64_t needed[ELF_NEEDED_MAX];
	size_t n_needed;
};

struct reading {
	const struct elf_input *in;
	const char *name;
	struct part parts[ELF_PARTS_MAX];
	size_t n_parts;
	uint64_t strings_at, strings_size; /* in the file */
};

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static int damaged(const struct reading *r, const char *how,
		   struct redoma_error *err)
{
	return err_set(err, REDOMA_E_INVALID, WHERE,
		       "%s is a damaged ELF file: %s", SHOW(str_of(r->name)),
		       how);
}

static int read_at(const struct reading *r, uint64_t at, void *p, size_t n,
		   struct redoma_error *err)
{
	const struct elf_input *in = r->in;
	uint8_t *to = p;

	if (at > in->size || n > in->size - at)
		return damaged(r, "a part lies beyond its end", err);
	if (in->bytes) {
		memcpy(to, (const uint8_t *)in->bytes + at, n);
		return 0;
	}
	while (n) {
		ssize_t got = pread(in->fd, to, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(err, WHERE, "read %s",
				       SHOW(str_of(r->name)));
		if (!got)
			return damaged(r, "it shrank while it was read", err);
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

bool elf_is(const void *start, size_t n)
{
	return n >= SELFMAG && !memcmp(start, ELFMAG, SELFMAG);
}

static int read_parts(struct reading *r, const uint8_t head[sizeof(Elf64_Ehdr)],
		      struct redoma_error *err)
{
	uint64_t at = get64(head + offsetof(Elf64_Ehdr, e_phoff));
	uint16_t each = get16(head + offsetof(Elf64_Ehdr, e_phentsize));
	uint16_t n = get16(head + offsetof(Elf64_Ehdr, e_phnum));
	uint8_t all[ELF_PARTS_MAX * sizeof(Elf64_Phdr)];
	const uint8_t *row = all;
	int rc;

	if (n > ELF_PARTS_MAX)
		return damaged(r, "too many program headers", err);
	if (n && each != sizeof(Elf64_Phdr))
		return damaged(r, "program headers of a wrong size", err);
	rc = read_at(r, at, all, n * sizeof(Elf64_Phdr), err);
	for (size_t i = 0; !rc && i < n; i++, row += sizeof(Elf64_Phdr))
		r->parts[i] = (struct part){
			.type = get32(row + offsetof(Elf64_Phdr, p_type)),
			.offset = get64(row + offsetof(Elf64_Phdr, p_offset)),
			.address = get64(row + offsetof(Elf64_Phdr, p_vaddr)),
			.size = get64(row + offsetof(Elf64_Phdr, p_filesz)),
		};
	r->n_parts = rc ? 0 : n;
	return rc;
}

static int read_head(struct reading *r, struct elf *e, struct redoma_error *err)
{
	uint8_t head[sizeof(Elf64_Ehdr)];
	const char *name = r->name;
	int rc;

	if (r->in->size < sizeof(head))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is too short for an ELF file",
			       SHOW(str_of(name)));
	rc = read_at(r, 0, head, sizeof(head), err);
	if (rc)
		return rc;
	if (!elf_is(head, sizeof(head)))
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is not an ELF file", SHOW(str_of(name)));
	if (head[EI_CLASS] != ELFCLASS64 || head[EI_DATA] != ELFDATA2LSB)
		return err_set(err, REDOMA_E_INVALID, WHERE,
			       "%s is not a 64-bit little-endian ELF file, and "
			       "only such programs run here",
			       SHOW(str_of(name)));
	if (head[EI_VERSION] != EV_CURRENT)
		return damaged(r, "an unknown version", err);
	e->type = get16(head + offsetof(Elf64_Ehdr, e_type));
	e->machine = get16(head + offsetof(Elf64_Ehdr, e_machine));
	return read_parts(r, head, err);
}

static const struct part *find_part(const struct reading *r, uint32_t type)
{
	for (size_t i = 0; i < r->n_parts; i++)
		if (r->parts[i].type == type)
			return &r->parts[i];
	return NULL;
}

/* The string at `at` of the file, whose room is `room` bytes. */
static int read_string(const struct reading *r, uint64_t at, uint64_t room,
		       char **ret, struct redoma_error *err)
{
	char text[ELF_NAME_MAX];
	size_t n = room < sizeof(text) ? (size_t)room : sizeof(text);
	int rc = read_at(r, at, text, n, err);

	if (rc)
		return rc;
	if (!memchr(text, '\0', n))
		return damaged(r, "a name without an end", err);
	if (!text[0])
		return damaged(r, "an empty name", err);
	*ret = strdup(text);
	return *ret ? 0 : err_nomem(err, WHERE);
}

static int read_interp(const struct reading *r, struct elf *e,
		       struct redoma_error *err)
{
	const struct part *p = find_part(r, PT_INTERP);

	return p ? read_string(r, p->offset, p->size, &e->interp, err) : 0;
}

static int take_entry(const struct reading *r, uint64_t tag, uint64_t value,
		      struct dynamic *d, struct redoma_error *err)
{
	switch (tag) {
	case DT_NEEDED:
		if (d->n_needed == ELF_NEEDED_MAX)
			return damaged(r, "it needs too many libraries", err);
		d->needed[d->n_needed++] = value;
		break;
	case DT_STRTAB:
		d->strings = value;
		break;
	case DT_STRSZ:
		d->strings_size = value;
		break;
	case DT_SONAME:
		d->soname = value;
		break;
	case DT_RPATH:
		d->rpath = value;
		break;
	case DT_RUNPATH:
		d->runpath = value;
		break;
	default:
		break;
	}
	return 0;
}

static int read_dynamic(const struct reading *r, const struct part *p,
			struct dynamic *d, struct redoma_error *err)
{
	CLEANUP_FREE uint8_t *all = NULL;
	uint64_t n = p->size / sizeof(Elf64_Dyn);
	int rc;

	/* One more than it may have, to tell that it has. */
	if (n > ELF_DYNAMIC_MAX)
		n = ELF_DYNAMIC_MAX + 1;
	all = malloc(n ? n * sizeof(Elf64_Dyn) : 1);
	if (!all)
		return err_nomem(err, WHERE);
	rc = read_at(r, p->offset, all, n * sizeof(Elf64_Dyn), err);
	for (uint64_t i = 0; !rc && i < n; i++) {
		const uint8_t *row = all + i * sizeof(Elf64_Dyn);

		if (get64(row) == DT_NULL)
			break;
		if (i == ELF_DYNAMIC_MAX)
			return damaged(r, "an endless dynamic section", err);
		rc = take_entry(r, get64(row), get64(row + sizeof(uint64_t)),
				d, err);
	}
	return rc;
}

/* From an address in memory to a place in the file (PT_LOAD). */
static int find_strings(struct reading *r, const struct dynamic *d,
			struct redoma_error *err)
{
	for (size_t i = 0; i < r->n_parts; i++) {
		const struct part *p = &r->parts[i];
		uint64_t in = d->strings - p->address;

		if (p->type != PT_LOAD || d->strings < p->address ||
		    in >= p->size)
			continue;
		if (p->offset > r->in->size || in > r->in->size - p->offset ||
		    d->strings_size > p->size - in ||
		    d->strings_size > r->in->size - p->offset - in)
			break;
		r->strings_at = p->offset + in;
		r->strings_size = d->strings_size;
		return 0;
	}
	return damaged(r, "its table of names is not in the file", err);
}

static int read_name(const struct reading *r, uint64_t at, char **ret,
		     struct redoma_error *err)
{
	if (at >= r->strings_size)
		return damaged(r, "a name outside its table", err);
	return read_string(r, r->strings_at + at, r->strings_size - at, ret,
			   err);
}

static int read_optional(const struct reading *r, uint64_t at, char **ret,
			 struct redoma_error *err)
{
	return at == NO_OFFSET ? 0 : read_name(r, at, ret, err);
}

static int read_names(const struct reading *r, const struct dynamic *d,
		      struct elf *e, struct redoma_error *err)
{
	int rc = read_optional(r, d->soname, &e->soname, err);

	if (!rc)
		rc = read_optional(r, d->rpath, &e->rpath, err);
	if (!rc)
		rc = read_optional(r, d->runpath, &e->runpath, err);
	e->needed = rc ? NULL : calloc(d->n_needed + 1, sizeof(*e->needed));
	if (!rc && !e->needed)
		rc = err_nomem(err, WHERE);
	for (size_t i = 0; !rc && i < d->n_needed; i++) {
		rc = read_name(r, d->needed[i], &e->needed[i], err);
		e->n_needed += !rc;
	}
	return rc;
}

static int read_needs(struct reading *r, struct elf *e,
		      struct redoma_error *err)
{
	const struct part *p = find_part(r, PT_DYNAMIC);
	struct dynamic d = {.strings = NO_OFFSET, .soname = NO_OFFSET,
			    .rpath = NO_OFFSET, .runpath = NO_OFFSET};
	int rc = p ? read_dynamic(r, p, &d, err) : 0;

	if (rc || !p)
		return rc;
	e->dynamic = true;
	if (!d.n_needed && d.soname == NO_OFFSET && d.rpath == NO_OFFSET &&
	    d.runpath == NO_OFFSET)
		return 0;
	rc = find_strings(r, &d, err);
	return rc ? rc : read_names(r, &d, e, err);
}

int elf_read(const struct elf_input *in, const char *name, struct elf *ret,
	     struct redoma_error *err)
{
	CLEANUP_FREE struct reading *r = calloc(1, sizeof(*r));
	CLEANUP(elf_done) struct elf e = {0};
	int rc;

	if (!r)
		return err_nomem(err, WHERE);
	r->in = in;
	r->name = name;
	rc = read_head(r, &e, err);
	if (!rc)
		rc = read_interp(r, &e, err);
	if (!rc)
		rc = read_needs(r, &e, err);
	if (rc)
		return rc;
	*ret = e;
	e = (struct elf){0};
	return 0;
}

void elf_done(struct elf *e)
{
	for (size_t i = 0; i < e->n_needed; i++)
		free(e->needed[i]);
	free(e->needed);
	free(e->interp);
	free(e->soname);
	free(e->rpath);
	free(e->runpath);
	*e = (struct elf){0};
}

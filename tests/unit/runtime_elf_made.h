/* A small ELF file made by hand, to be damaged: a header, three program headers
 * (PT_LOAD of all, PT_INTERP, PT_DYNAMIC), names, and a dynamic section. */
#ifndef RUNTIME_ELF_MADE_H
#define RUNTIME_ELF_MADE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define MADE_ADDRESS 0x10000u
#define MADE_INTERP "/lib/ld-made.so.1"
#define MADE_NAMES 256u
#define MADE_DYNAMIC 12u

struct made {
	Elf64_Ehdr head;
	Elf64_Phdr parts[3];
	char interp[32];
	char names[MADE_NAMES];
	Elf64_Dyn dynamic[MADE_DYNAMIC];
};

static inline uint64_t made_name(struct made *m, const char *text)
{
	size_t at = 1;

	while (m->names[at])
		at += strlen(m->names + at) + 1;
	strcpy(m->names + at, text);
	return at;
}

static inline void made_entry(struct made *m, int64_t tag, uint64_t value)
{
	size_t i = 0;

	while (m->dynamic[i].d_tag)
		i++;
	m->dynamic[i].d_tag = tag;
	m->dynamic[i].d_un.d_val = value;
}

/* Needs the names (NULL-terminated); runpath may be NULL. */
static inline void made_fill(struct made *m, const char *const *needed,
			     const char *rpath, const char *runpath)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->head.e_ident, ELFMAG, SELFMAG);
	m->head.e_ident[EI_CLASS] = ELFCLASS64;
	m->head.e_ident[EI_DATA] = ELFDATA2LSB;
	m->head.e_ident[EI_VERSION] = EV_CURRENT;
	m->head.e_type = ET_DYN;
	m->head.e_machine = EM_X86_64;
	m->head.e_phoff = offsetof(struct made, parts);
	m->head.e_phentsize = sizeof(Elf64_Phdr);
	m->head.e_phnum = 3;
	m->parts[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				   .p_vaddr = MADE_ADDRESS,
				   .p_filesz = sizeof(*m),
				   .p_memsz = sizeof(*m)};
	strcpy(m->interp, MADE_INTERP);
	m->parts[1] = (Elf64_Phdr){.p_type = PT_INTERP,
				   .p_offset = offsetof(struct made, interp),
				   .p_filesz = sizeof(MADE_INTERP)};
	m->parts[2] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				   .p_offset = offsetof(struct made, dynamic),
				   .p_filesz = sizeof(m->dynamic)};
	for (size_t i = 0; needed && needed[i]; i++)
		made_entry(m, DT_NEEDED, made_name(m, needed[i]));
	if (rpath)
		made_entry(m, DT_RPATH, made_name(m, rpath));
	if (runpath)
		made_entry(m, DT_RUNPATH, made_name(m, runpath));
	made_entry(m, DT_STRTAB,
		   MADE_ADDRESS + offsetof(struct made, names));
	made_entry(m, DT_STRSZ, MADE_NAMES);
}

#endif

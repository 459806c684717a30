/* SPDX-License-Identifier: MIT */
/* The length of a dynamic symbol table is stored nowhere. But in files as linkers make them, the
 * table of names follows right behind. */
#include "preload/loaded_files.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct visitor {
    bool (*visit)(const struct rp_loaded_file *, void *);
    void *context;
};

/* Returns the pointer for an address of the dynamic section. The loader has relocated these
 * addresses in most files, but not in all (the vdso). */
static const void *at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

/* Reads the dynamic section. Returns the offset of the file's name among its names; 0: none. */
static ElfW(Xword) read_dynamic(struct rp_loaded_file *f, const ElfW(Dyn) * dynamic)
{
    ElfW(Xword) soname = 0;

    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        ElfW(Addr) pointer = dynamic->d_un.d_ptr;
        ElfW(Xword) value = dynamic->d_un.d_val;
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            f->symbols = at(f->info, pointer);
            break;
        case DT_STRTAB:
            f->names = at(f->info, pointer);
            break;
        case DT_SONAME:
            soname = value;
            break;
        case DT_JMPREL:
            f->relocations[0] = at(f->info, pointer);
            break;
        case DT_PLTRELSZ:
            f->relocation_count[0] = value / sizeof(ElfW(Rela));
            break;
        case DT_RELA:
            f->relocations[1] = at(f->info, pointer);
            break;
        case DT_RELASZ:
            f->relocation_count[1] = value / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    return soname;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_of_mpi(const char *soname)
{
    return starts_with(soname, "libmpi") || starts_with(soname, "libopen-") ||
           starts_with(soname, "libopen_") || starts_with(soname, "mca_") ||
           starts_with(soname, "libreprise");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct visitor *visitor = context;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        struct rp_loaded_file file = {.info = info};
        ElfW(Xword) soname =
            read_dynamic(&file, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        if (!file.symbols || !file.names ||
            is_of_mpi(soname ? file.names + soname : base_name(info->dlpi_name)))
            continue;
        if (file.names > (const char *)file.symbols)
            file.count = (size_t)(file.names - (const char *)file.symbols) / sizeof *file.symbols;
        if (!visitor->visit(&file, visitor->context))
            return 1;
    }
    return 0;
}

void rp_loaded_files(bool (*visit)(const struct rp_loaded_file *, void *), void *context)
{
    struct visitor visitor = {visit, context};

    dl_iterate_phdr(look, &visitor);
}

#if defined(__x86_64__)
enum { SLOT = R_X86_64_JUMP_SLOT, POINTER = R_X86_64_GLOB_DAT, DATA = R_X86_64_64 };
#else
enum { SLOT = R_AARCH64_JUMP_SLOT, POINTER = R_AARCH64_GLOB_DAT, DATA = R_AARCH64_ABS64 };
#endif

/* Slots may lie in memory that the loader has made read-only since (RELRO). */
static void set_slot(const struct rp_loaded_file *file, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);
    bool is_read_only = false;

    for (int i = 0; i < file->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &file->info->dlpi_phdr[i];
        uintptr_t from = file->info->dlpi_addr + part->p_vaddr;
        is_read_only |= part->p_type == PT_GNU_RELRO && (uintptr_t)slot >= from &&
                        (uintptr_t)slot < from + part->p_memsz;
    }
    if (is_read_only && mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
        return;
    *slot = value;
    if (is_read_only)
        mprotect((void *)start, page, PROT_READ);
}

static void redirect(const struct rp_loaded_file *file, const ElfW(Rela) * relocation,
                     rp_redirect *target)
{
    unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    const ElfW(Sym) *symbol = &file->symbols[ELF64_R_SYM(relocation->r_info)];

    if ((type != SLOT && type != POINTER && type != DATA) || symbol->st_shndx != SHN_UNDEF)
        return;
    void *address = target(file->names + symbol->st_name);
    if (address)
        set_slot(file, (void **)(file->info->dlpi_addr + relocation->r_offset), address);
}

void rp_loaded_file_redirect(const struct rp_loaded_file *file, rp_redirect *target)
{
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; i < file->relocation_count[table]; i++)
            redirect(file, &file->relocations[table][i], target);
}

/* SPDX-License-Identifier: MIT */
/* The length of a dynamic symbol table is stored nowhere. But in files as linkers make them, the
 * table of names follows right behind. */
#include "preload/loaded_files.h"

#include <string.h>

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
           starts_with(soname, "mca_") || starts_with(soname, "libreprise");
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

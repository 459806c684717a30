/* SPDX-License-Identifier: MIT */
/* The length of a dynamic symbol table is stored nowhere. But in files as linkers make them, the
 * table of names follows right behind. */
#include "interpose/imports.h"

#include <link.h>
#include <string.h>

struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    const char *soname;
};

/* Returns the pointer for an address of the dynamic section. The loader has relocated these
 * addresses in most files, but not in all (the vdso). */
static const void *at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return (const void *)(address < info->dlpi_addr ? info->dlpi_addr + address : address);
}

static struct tables find_tables(const struct dl_phdr_info *info, const ElfW(Dyn) * dynamic)
{
    struct tables tables = {0};
    ElfW(Xword) soname = 0;

    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_SYMTAB)
            tables.symbols = at(info, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_STRTAB)
            tables.names = at(info, dynamic->d_un.d_ptr);
        else if (dynamic->d_tag == DT_SONAME)
            soname = dynamic->d_un.d_val;
    }
    tables.soname = tables.names && soname ? tables.names + soname : "";
    return tables;
}

static bool is_of_mpi(const char *soname)
{
    return strncmp(soname, "libmpi", 6) == 0 || strncmp(soname, "libopen-", 8) == 0 ||
           strncmp(soname, "libreprise", 10) == 0;
}

static bool is_cancel(const char *name)
{
    return strcasestr(name, "mpi_cancel") || strstr(name, "3MPI7Request6Cancel");
}

static bool asks_for_cancel(const struct tables *tables)
{
    for (const ElfW(Sym) *symbol = tables->symbols; (const char *)(symbol + 1) <= tables->names;
         symbol++)
        if (symbol->st_shndx == SHN_UNDEF && is_cancel(tables->names + symbol->st_name))
            return true;
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        struct tables tables =
            find_tables(info, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
        if (!tables.symbols || !tables.names || is_of_mpi(tables.soname))
            continue;
        if (tables.names < (const char *)tables.symbols || asks_for_cancel(&tables))
            return 1;
    }
    return 0;
}

bool rp_imports_cancel(void)
{
    return dl_iterate_phdr(visit, NULL) != 0;
}

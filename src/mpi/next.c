/* SPDX-License-Identifier: MIT */
/* Finding the real functions. A process without MPI pays one look; a library that comes later is looked for at the first call. */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "mpi/entry.h"
#include "reprise.h"

void rp_next_find(const char *name, void *slot, size_t size)
{
    void *symbol = rp_library_symbol(name);

    if (symbol)
        memcpy(slot, &symbol, size);
}

void rp_next_missing(const char *name)
{
    rp_error("%s: the MPI library of this program does not have it, or could not be found", name);
    _exit(REPRISE_EXIT_INTERNAL);
}

/* The module that an address is in. */
struct module {
    uintptr_t address, start, end;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module *module = data;
    uintptr_t start = UINTPTR_MAX, end = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = from + segment->p_memsz > end ? from + segment->p_memsz : end;
    }
    if (module->address < start || module->address >= end)
        return 0;
    module->start = start;
    module->end = end;
    return 1;
}

static struct module module_of(uintptr_t address)
{
    struct module module = {.address = address};

    dl_iterate_phdr(visit, &module);
    return module;
}

static bool is_in(const struct module *module, uintptr_t address)
{
    return address >= module->start && address < module->end;
}

/* What the library does not have is 0, or still ours. */
static bool none_elsewhere(const struct module *library, const struct module *own, const struct rp_next *next)
{
    uintptr_t address[sizeof *next / sizeof(uintptr_t)];

    memcpy(address, next, sizeof address);
    for (size_t i = 0; i < sizeof address / sizeof *address; i++)
        if (address[i] != 0 && !is_in(library, address[i]) && !is_in(own, address[i]))
            return false;
    return true;
}

bool rp_next_is_the_library(void)
{
    struct module library = module_of((uintptr_t)rp_pmpi.Finalize), own = module_of((uintptr_t)module_of);

    return none_elsewhere(&library, &own, &rp_mpi) && none_elsewhere(&library, &own, &rp_pmpi);
}

__attribute__((constructor)) static void resolve_early(void)
{
    if (rp_library_symbol("PMPI_Init"))
        rp_next_resolve();
}

/* SPDX-License-Identifier: MIT */
#include "preload/modules.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

#include "next.h"

/* A loaded file, by its range of addresses. */
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

/* Returns whether all functions of the table are the library's. A function that the library does
 * not have is 0, or still our own. */
static bool none_elsewhere(const struct module *library, const struct module *own,
                           const struct rp_next *next)
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
    struct module library = module_of((uintptr_t)rp_pmpi.Abort),
                  own = module_of((uintptr_t)module_of);

    return none_elsewhere(&library, &own, &rp_mpi) && none_elsewhere(&library, &own, &rp_pmpi);
}

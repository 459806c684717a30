/* SPDX-License-Identifier: MIT */
/* Finding the real functions. A process without MPI pays one look; a library that comes later is looked for at the first call. */
#include <dlfcn.h>
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

__attribute__((constructor)) static void resolve_early(void)
{
    if (rp_library_symbol("PMPI_Init"))
        rp_next_resolve();
}

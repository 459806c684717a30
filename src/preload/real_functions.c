/* SPDX-License-Identifier: MIT */
/* Fills the generated tables of real functions, in each of our libraries. */
#include <string.h>
#include <unistd.h>

#include "base/diagnostics.h"
#include "preload/constants.h"
#include "preload/real_functions.h"
#include "reprise.h"

void rp_next_find(const char *name, void *slot, size_t size)
{
    void *symbol = rp_library_symbol(name);

    /* The standard ABI of MPICH 5.0.2 has an MPI_File_close, and no PMPI_File_close. */
    if (!symbol && name[0] == 'P')
        symbol = rp_library_own_symbol(name + 1);
    if (symbol)
        memcpy(slot, &symbol, size);
}

void rp_next_missing(const char *name)
{
    rp_error("%s: the MPI library of this program does not have it, or could not be found", name);
    _exit(REPRISE_EXIT_INTERNAL);
}

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

    if (symbol)
        memcpy(slot, &symbol, size);
}

void rp_next_missing(const char *name)
{
    rp_error("%s: the MPI library of this program does not have it, or could not be found", name);
    _exit(REPRISE_EXIT_INTERNAL);
}

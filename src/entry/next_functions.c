/* SPDX-License-Identifier: MIT */
/* Finding the real functions. A process without MPI pays one look; a library that comes later is
 * looked for at the first call. */
#include "preload/constants.h"
#include "next.h"

__attribute__((constructor)) static void resolve_early(void)
{
    if (rp_library_symbol("PMPI_Init"))
        rp_next_resolve();
}

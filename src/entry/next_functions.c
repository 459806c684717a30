/* SPDX-License-Identifier: MIT */
/* Finding the real functions. A process without MPI pays one look; a library that comes later is
 * looked for at the first call. */
#include "entry/refuse.h"
#include "job/settings.h"
#include "preload/constants.h"
#include "preload/unknown_functions.h"
#include "next.h"

__attribute__((constructor)) static void resolve_early(void)
{
    if (!rp_library_symbol("PMPI_Init"))
        return;
    rp_next_resolve();
    if (rp_setting("REPRISE_MODE"))
        rp_unknown_functions_refuse(rp_refuse_unknown);
}

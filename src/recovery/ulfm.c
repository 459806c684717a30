/* SPDX-License-Identifier: MIT */
#include "recovery/ulfm.h"

#include <dlfcn.h>
#include <string.h>

struct rp_ulfm rp_ulfm;

bool rp_ulfm_find(void *(*symbol)(const char *name))
{
    static const char *const names[] = {"PMPIX_Comm_revoke", "PMPIX_Comm_shrink",
                                        "PMPIX_Comm_agree", "PMPIX_Comm_get_failed"};
    /* MPICH has functions of these names, too: MPIX_Comm_agree of 4.2 ends the job by an assertion
     * where a process has ended. */
    bool is_openmpi = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL;
    void *found[sizeof names / sizeof *names];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_openmpi || !(found[i] = symbol(names[i])))
            return false;
    _Static_assert(sizeof found == sizeof rp_ulfm, "a name for each function");
    memcpy(&rp_ulfm, found, sizeof found);
    return true;
}

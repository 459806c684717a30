/* SPDX-License-Identifier: MIT */
/* ULFM of Open MPI 5. The MPI that the library was built with may not have it. */
#include "ft/ft_ulfm.h"

#include <string.h>

#include "ft/ft_state.h"
#include "preload/constants.h"

static struct {
    int (*revoke)(MPI_Comm);
    int (*shrink)(MPI_Comm, MPI_Comm *);
    int (*agree)(MPI_Comm, int *);
    int (*get_failed)(MPI_Comm, MPI_Group *);
} ulfm;

static bool find(const char *name, void *slot)
{
    void *symbol = rp_library_symbol(name);

    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool rp_ulfm_find(void)
{
    return find("PMPIX_Comm_revoke", &ulfm.revoke) && find("PMPIX_Comm_shrink", &ulfm.shrink) &&
           find("PMPIX_Comm_agree", &ulfm.agree) && find("PMPIX_Comm_get_failed", &ulfm.get_failed);
}

int rp_ulfm_revoke(MPI_Comm comm)
{
    return ulfm.revoke(comm);
}

int rp_ulfm_shrink(MPI_Comm comm, MPI_Comm *out)
{
    return ulfm.shrink(comm, out);
}

int rp_ulfm_agree(MPI_Comm comm, int *flag)
{
    return ulfm.agree(comm, flag);
}

bool rp_ulfm_has_failed(MPI_Comm comm, int process)
{
    MPI_Group all, failed;
    int place = MPI_UNDEFINED;

    rp_real.Comm_group(comm, &all);
    if (ulfm.get_failed(comm, &failed) == MPI_SUCCESS && failed != MPI_GROUP_EMPTY) {
        rp_real.Group_translate_ranks(all, 1, &process, failed, &place);
        rp_real.Group_free(&failed);
    }
    rp_real.Group_free(&all);
    return place != MPI_UNDEFINED;
}

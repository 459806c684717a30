/* SPDX-License-Identifier: MIT */
#include "ft/ft_ulfm.h"

#include "ft/ft_state.h"

bool rp_ft_has_failed(MPI_Comm comm, int process)
{
    MPI_Group all, failed;
    int place = MPI_UNDEFINED;

    rp_real.Comm_group(comm, &all);
    if (rp_ulfm.get_failed(comm, &failed) == MPI_SUCCESS && failed != MPI_GROUP_EMPTY) {
        rp_real.Group_translate_ranks(all, 1, &process, failed, &place);
        rp_real.Group_free(&failed);
    }
    rp_real.Group_free(&all);
    return place != MPI_UNDEFINED;
}

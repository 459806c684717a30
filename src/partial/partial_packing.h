/* SPDX-License-Identifier: MIT */
/* MPI_Pack and MPI_Unpack of messages in host memory, of any length. `buf` may be MPI_BOTTOM. */
#ifndef RP_PARTIAL_PACKING_H
#define RP_PARTIAL_PACKING_H

#include "partial/partial_state.h"

/* Returns how many bytes the packed message has at most. Ends the job if it has 2 GiB and more, and
 * this MPI has no functions of large counts. `size`: of an element. */
size_t rp_packing_room(MPI_Count count, MPI_Datatype type, size_t size);
/* Returns how many bytes it has made. */
size_t rp_packing_pack(const void *buf, MPI_Count count, MPI_Datatype type, void *packed,
                       size_t room);
void rp_packing_unpack(const void *packed, size_t bytes, void *buf, MPI_Count count,
                       MPI_Datatype type);

#endif

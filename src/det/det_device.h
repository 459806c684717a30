/* SPDX-License-Identifier: MIT */
/* The vectors of a reduction, on the host. */
#ifndef RP_DET_DEVICE_H
#define RP_DET_DEVICE_H

#include "det/det_state.h"

/* The host's copies of what is in device memory. */
struct rp_det_on_host {
    void *from_memory, *into_memory; /* NULL: there is no copy */
    void *copy, *into;               /* the copy of the result, and where it goes */
};

/* If *from has `given` elements, or *into has `taken`, in device memory, they become copies on the
 * host. *from may be MPI_IN_PLACE: then *into has what is given. */
void rp_det_to_host(struct rp_det_on_host *on_host, const void **from, MPI_Count given, void **into,
                    MPI_Count taken, MPI_Datatype type);

/* Copies the `taken` elements of the result to the device, and frees the copies. */
void rp_det_from_host(struct rp_det_on_host *on_host, MPI_Count taken, MPI_Datatype type);

#endif

/* SPDX-License-Identifier: MIT */
/* The transport over MPI point-to-point. */
#ifndef RP_TASK_MPI_TRANSPORT_H
#define RP_TASK_MPI_TRANSPORT_H

#include <mpi.h>

#include "task/task_runtime.h"

/* Parcels travel in this communicator from now on. `fail` is that of the transport. */
struct rp_transport rp_mpi_transport(MPI_Comm comm, void (*fail)(void *data, const char *why));

/* Drops the parcels whose sends are complete, or whose receivers are dead. False: none is under way
 * any more. */
bool rp_mpi_transport_complete(void);

void rp_mpi_transport_free(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Blocking receives where several threads call MPI: a post in its turn, and a wait. */
#ifndef RP_THREADED_RECEIVE_H
#define RP_THREADED_RECEIVE_H

#include <mpi.h>

#include "entry/engine.h"

int rp_threaded_receive_receive(const struct rp_call *call, void *buf, MPI_Count count,
                                MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                MPI_Status *status);
int rp_threaded_receive_exchange(const struct rp_call *call, const void *sendbuf,
                                 MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                                 void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                 int source, int tag, MPI_Comm comm, MPI_Status *status);
int rp_threaded_receive_replace(const struct rp_call *call, void *buf, MPI_Count count,
                                MPI_Datatype type, int dest, int sendtag, int source, int tag,
                                MPI_Comm comm, MPI_Status *status);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * MPI_Request_get_status_any, _all and _some (MPI 4.1), made of MPI_Request_get_status. They take
 * the arguments of MPI's, behind the table of the real functions.
 */
#ifndef RP_REQUEST_STATUS_H
#define RP_REQUEST_STATUS_H

#include <mpi.h>

#include "next.h"

int rp_status_any(const struct rp_next *next, int count, const MPI_Request *requests, int *index,
                  int *flag, MPI_Status *status);
int rp_status_all(const struct rp_next *next, int count, const MPI_Request *requests, int *flag,
                  MPI_Status *statuses);
int rp_status_some(const struct rp_next *next, int count, const MPI_Request *requests,
                   int *outcount, int *indices, MPI_Status *statuses);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * User-Level Failure Mitigation: the functions by which survivors go on. They are looked up when
 * the program runs, since the MPI that we were built with may not have them.
 */
#ifndef RP_ULFM_H
#define RP_ULFM_H

#include <mpi.h>
#include <stdbool.h>

/* MPIX_Comm_revoke and so on; NULL until they are found. */
extern struct rp_ulfm {
    int (*revoke)(MPI_Comm comm);
    int (*shrink)(MPI_Comm comm, MPI_Comm *living);
    int (*agree)(MPI_Comm comm, int *flag);
    int (*get_failed)(MPI_Comm comm, MPI_Group *failed);
} rp_ulfm;

/* Finds the functions by `symbol`, which takes a name such as PMPIX_Comm_revoke and returns NULL if
 * there is no such function. Returns whether this MPI has them all; otherwise none is set. */
bool rp_ulfm_find(void *(*symbol)(const char *name));

#endif

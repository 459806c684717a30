/* SPDX-License-Identifier: MIT */
/*
 * MPI's predefined handles. Open MPI's are addresses of objects in libmpi. To name them directly
 * would make us depend on a library that processes without MPI (the launcher, a shell) do not have,
 * and that Python loads where we cannot see it. So they are looked up at run time.
 */
#ifndef RP_CONSTANTS_H
#define RP_CONSTANTS_H

#include <mpi.h>

#include "base/visibility.h"

struct rp_constants {
    MPI_Comm world, self, comm_null;
    MPI_Request request_null;
    MPI_Datatype byte, packed, uint64, int32, datatype_null;
    MPI_Op sum, max;
    MPI_Errhandler errors_return;
    MPI_Message message_no_proc;
    MPI_Info info_null;
    const int *unweighted; /* MPI_UNWEIGHTED, which MPICH has as a variable */
};

extern RP_HIDDEN struct rp_constants rp_constant;

/* Looks up all of rp_constant. To be called after the MPI library was loaded. */
void rp_constants_find(void);

/* Returns the address of a symbol of the MPI library behind us, or NULL if there is none. */
void *rp_library_symbol(const char *name);

/* The same, past all that is preloaded. */
void *rp_library_own_symbol(const char *name);

/* Returns the address of an object (a variable) of the MPI library; the program may hold a copy,
 * whose address is returned then. */
void *rp_library_object(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * MPI's predefined handles. Open MPI's are addresses of data in libmpi; naming them directly would
 * bind us to a library that processes without MPI (the launcher, a shell) do not have, and that
 * Python loads out of our sight. So they are looked up.
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
};

extern RP_HIDDEN struct rp_constants rp_constant;

/* After the MPI library was loaded. */
void rp_constants_find(void);

/* The address of a symbol of the MPI library behind us, NULL if there is none. */
void *rp_library_symbol(const char *name);

/* The same of an object, which the program may hold itself. */
void *rp_library_object(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* As much of MPI as src/det needs to be compiled for the model (det_model.h): handles are numbers,
 * a datatype is nothing. */
#ifndef MODEL_MPI_H
#define MODEL_MPI_H

typedef int MPI_Comm, MPI_Request, MPI_Datatype, MPI_Message, MPI_Info, MPI_Op, MPI_Errhandler,
    MPI_Group, MPI_File;
typedef long long MPI_Count;

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, is_cancelled;
} MPI_Status;

enum {
    MPI_VERSION = 3,
    MPI_SUCCESS = 0,
    MPI_ERR_IN_STATUS = 17,
    MPI_ERR_NO_MEM = 34,
    MPI_ANY_SOURCE = -2,
    MPI_ANY_TAG = -1,
    MPI_PROC_NULL = -3,
    MPI_ROOT = -4,
    MPI_UNDEFINED = -32766,
};

#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

#endif

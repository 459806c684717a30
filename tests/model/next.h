/* SPDX-License-Identifier: MIT */
/* The functions of MPI that src/det calls; the model has those that it comes to. */
#ifndef MODEL_NEXT_H
#define MODEL_NEXT_H

#include "mpi.h"

struct rp_next {
    int (*Send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*Bsend)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*Isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Issend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*Irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Recv_init)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Sendrecv)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                    MPI_Comm, MPI_Status *);
    int (*Probe)(int, int, MPI_Comm, MPI_Status *);
    int (*Iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
    int (*Mprobe)(int, int, MPI_Comm, MPI_Message *, MPI_Status *);
    int (*Improbe)(int, int, MPI_Comm, int *, MPI_Message *, MPI_Status *);
    int (*Wait)(MPI_Request *, MPI_Status *);
    int (*Waitall)(int, MPI_Request *, MPI_Status *);
    int (*Waitany)(int, MPI_Request *, int *, MPI_Status *);
    int (*Waitsome)(int, MPI_Request *, int *, int *, MPI_Status *);
    int (*Test)(MPI_Request *, int *, MPI_Status *);
    int (*Testall)(int, MPI_Request *, int *, MPI_Status *);
    int (*Testany)(int, MPI_Request *, int *, int *, MPI_Status *);
    int (*Testsome)(int, MPI_Request *, int *, int *, MPI_Status *);
    int (*Start)(MPI_Request *);
    int (*Cancel)(MPI_Request *);
    int (*Request_free)(MPI_Request *);
    int (*Request_get_status)(MPI_Request, int *, MPI_Status *);
    int (*Test_cancelled)(const MPI_Status *, int *);
    int (*Status_set_cancelled)(MPI_Status *, int);
    int (*Status_set_elements_x)(MPI_Status *, MPI_Datatype, MPI_Count);
    int (*Get_count)(const MPI_Status *, MPI_Datatype, int *);
    int (*Comm_rank)(MPI_Comm, int *);
    int (*Pack)(const void *, int, MPI_Datatype, void *, int, int *, MPI_Comm);
    int (*Pack_size)(int, MPI_Datatype, MPI_Comm, int *);
    int (*Type_dup)(MPI_Datatype, MPI_Datatype *);
    int (*Type_free)(MPI_Datatype *);
    int (*Type_size_x)(MPI_Datatype, MPI_Count *);
    int (*Type_get_extent_x)(MPI_Datatype, MPI_Count *, MPI_Count *);
    int (*Type_get_true_extent_x)(MPI_Datatype, MPI_Count *, MPI_Count *);
};

extern struct rp_next rp_pmpi;

#endif

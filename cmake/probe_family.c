/* SPDX-License-Identifier: MIT */
/* Compiles only with the MPI of FAMILY: each has another type of handles (cmake/mpis.cmake). */
#include <mpi.h>
#define openmpi struct ompi_communicator_t *
#define mpich int
#define abi struct MPI_ABI_Comm *
_Static_assert(_Generic((MPI_Comm)0, FAMILY : 1, default : 0), "another family");

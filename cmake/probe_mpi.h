/* SPDX-License-Identifier: MIT */
/* Preprocessed by a compiler wrapper: which MPI its mpi.h is of (cmake/mpis.cmake). */
#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION)
rp_version OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION
#elif defined(I_MPI_VERSION)
rp_version I_MPI_VERSION
#elif defined(MVAPICH_VERSION)
rp_version MVAPICH_VERSION
#elif defined(MVAPICH2_VERSION)
rp_version MVAPICH2_VERSION
#elif defined(MPICH_VERSION)
rp_version MPICH_VERSION
#else
rp_version MPI_VERSION MPI_SUBVERSION
#endif

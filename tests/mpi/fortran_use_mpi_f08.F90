! SPDX-License-Identifier: MIT
! ranks: 4
! native: differs
! also: clocks solo
! about: wildcard receives, completion calls, probes, MPI_BOTTOM and MPI_IN_PLACE in Fortran, by use
!     mpi_f08
#define WITH_MPI_F08
#include "fortran_body.inc"

! SPDX-License-Identifier: MIT
! ranks: 4
! native: differs
! also: clocks
! about: wildcard receives, completion calls, probes, MPI_BOTTOM and MPI_IN_PLACE in Fortran, by
!     include 'mpif.h'
#define WITH_MPIF_H
#include "fortran_body.inc"

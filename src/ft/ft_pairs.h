/* SPDX-License-Identifier: MIT */
/* MPI_2REAL and MPI_2DOUBLE_PRECISION: pairs of a value and a place, which C does not have. */
#ifndef RP_FT_PAIRS_H
#define RP_FT_PAIRS_H

#include <stdbool.h>

#include "ft/ft_mpi.h"

/* Return the datatype that stands for MPI_2REAL or MPI_2DOUBLE_PRECISION. It is made at the first
 * call and stays. */
MPI_Datatype rp_ft_pair_of_reals(void);
MPI_Datatype rp_ft_pair_of_doubles(void);

/* Returns whether `type` is one of them. */
bool rp_ft_is_pair(MPI_Datatype type);

/* Reduces `count` pairs into `right` by MPI_MAXLOC or MPI_MINLOC. Returns false, and does nothing,
 * for another datatype or operation. */
bool rp_ft_combine_pairs(const void *left, void *right, int count, MPI_Datatype type, MPI_Op op);

#endif

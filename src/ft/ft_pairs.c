/* SPDX-License-Identifier: MIT */
/* Pairs of two reals, which C does not have, and MPI without Fortran cannot reduce. */
#include "ft/ft_pairs.h"

#include <string.h>

#include "ft/ft_state.h"

static struct {
    MPI_Datatype reals, doubles;
} pairs;

static MPI_Datatype pair_of(MPI_Datatype one, MPI_Datatype *two)
{
    if (!*two) {
        rp_real.Type_contiguous(2, one, two);
        rp_real.Type_commit(two);
    }
    return *two;
}

MPI_Datatype rp_ft_pair_of_reals(void)
{
    return pair_of(MPI_FLOAT, &pairs.reals);
}

MPI_Datatype rp_ft_pair_of_doubles(void)
{
    return pair_of(MPI_DOUBLE, &pairs.doubles);
}

bool rp_ft_is_pair(MPI_Datatype type)
{
    return type && (type == pairs.reals || type == pairs.doubles);
}

/* Of equal values, that with the lower place. */
#define COMBINE(NAME, TYPE)                                                                        \
    static void NAME(const TYPE(*left)[2], TYPE(*right)[2], int count, bool most)                  \
    {                                                                                              \
        for (int i = 0; i < count; i++) {                                                          \
            bool wins = most ? left[i][0] > right[i][0] : left[i][0] < right[i][0];                \
            if (wins || (left[i][0] == right[i][0] && left[i][1] < right[i][1]))                   \
                memcpy(right[i], left[i], sizeof right[i]);                                        \
        }                                                                                          \
    }
COMBINE(combine_reals, float)
COMBINE(combine_doubles, double)

bool rp_ft_combine_pairs(const void *left, void *right, int count, MPI_Datatype type, MPI_Op op)
{
    if (!rp_ft_is_pair(type) || (op != MPI_MAXLOC && op != MPI_MINLOC))
        return false;
    if (type == pairs.reals)
        combine_reals(left, right, count, op == MPI_MAXLOC);
    else
        combine_doubles(left, right, count, op == MPI_MAXLOC);
    return true;
}

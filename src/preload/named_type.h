/* SPDX-License-Identifier: MIT */
/* How a datatype was made, for libraries that know MPI_Type_get_envelope. MPICH ends a program that
 * asks by that about a type of large counts. */
#ifndef RP_NAMED_TYPE_H
#define RP_NAMED_TYPE_H

#include <mpi.h>
#include <stdbool.h>

#include "next.h"

struct rp_type_envelope {
    MPI_Count integers, addresses, counts, types; /* MPI_Type_get_contents gives so many */
    int combiner;
};

static inline struct rp_type_envelope rp_type_envelope(MPI_Datatype type)
{
    struct rp_type_envelope e = {.combiner = MPI_COMBINER_NAMED};

#if RP_HAS_LARGE_COUNTS
    rp_pmpi.Type_get_envelope_c(type, &e.integers, &e.addresses, &e.counts, &e.types, &e.combiner);
#else
    int integers = 0, addresses = 0, types = 0;
    rp_pmpi.Type_get_envelope(type, &integers, &addresses, &types, &e.combiner);
    e.integers = integers;
    e.addresses = addresses;
    e.types = types;
#endif
    return e;
}

static inline bool rp_type_is_named(MPI_Datatype type)
{
    return rp_type_envelope(type).combiner == MPI_COMBINER_NAMED;
}

#endif

/* SPDX-License-Identifier: MIT */
/* What must be known of datatypes, and the types that put a stamp in front of a payload in
 * place. */
#ifndef RP_DATATYPE_LAYOUT_H
#define RP_DATATYPE_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct rp_layout {
    MPI_Datatype type;
    MPI_Count size;
    bool
        is_plain; /* elements are bytes in memory order without gaps: a message is a copy of them */
};

/* NULL: not a datatype, or not committed. Valid until the next call. */
const struct rp_layout *rp_layout_of(MPI_Datatype type);

/* A committed type that, from MPI_BOTTOM, is the eight bytes of the stamp and `count` items of
 * `type` at `buf`. It is ours, and stays good for what was begun with it. */
MPI_Datatype rp_layout_join(const uint64_t *stamp, const void *buf, MPI_Count count,
                            MPI_Datatype type);

/* The program frees the type: its handle may come back as another's. */
void rp_layout_forget(MPI_Datatype type);

/* Frees all types that were made. */
void rp_layout_drop_all(void);

#endif

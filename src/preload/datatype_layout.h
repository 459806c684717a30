/* SPDX-License-Identifier: MIT */
/* Properties of datatypes, and the datatypes that put a stamp in front of a payload without copying
 * it. */
#ifndef RP_DATATYPE_LAYOUT_H
#define RP_DATATYPE_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct rp_layout {
    MPI_Datatype type;
    MPI_Count size;
    bool is_plain; /* elements are bytes in memory order without gaps, so a copy of their bytes is
                      the message */
};

/* Returns what is known of `type`, valid until the next call. Returns NULL if it is no datatype or
 * is not committed. */
const struct rp_layout *rp_layout_of(MPI_Datatype type);

/* Returns a committed datatype that, used with MPI_BOTTOM, is the eight bytes of `stamp` and
 * `count` items of `type` at `buf`. The caller must not free it. Operations that were started with
 * it may still use it after it was replaced in the cache. */
MPI_Datatype rp_layout_join(const uint64_t *stamp, const void *buf, MPI_Count count,
                            MPI_Datatype type);

/* Forgets `type`, which the program frees: MPI may use its handle again for another type. */
void rp_layout_forget(MPI_Datatype type);

/* Frees all datatypes that were made here. */
void rp_layout_drop_all(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Numbers for communicators, by first use in an event: the same in every run of the same program.
 * MPI_COMM_WORLD is 0. */
#ifndef RP_COMMS_H
#define RP_COMMS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"

struct rp_comm_number {
    MPI_Comm comm;
    uint32_t number;
    int peers; /* ranks that can send on it to this rank */
};

struct rp_comms {
    MPI_Comm last;
    uint32_t last_number;
    struct rp_comm_number *known;
    size_t count, room;
    uint32_t next;
    int are_unnumbered; /* every number is 0 */
};

extern RP_HIDDEN struct rp_comms rp_comms;

void rp_comms_init(void);
uint32_t rp_comms_lookup(MPI_Comm comm);
void rp_comms_forget(MPI_Comm comm);

/* From now on no communicator has a number: several threads may use them first. */
void rp_comms_stop_numbering(void);

/* The number that it has, or would get now. */
uint32_t rp_comms_expected(MPI_Comm comm);

/* Returns how many ranks can send on it to this rank; 0: a communicator that no event used. */
int rp_comms_peers(MPI_Comm comm);

static inline uint32_t rp_comms_number(MPI_Comm comm)
{
    return comm == rp_comms.last ? rp_comms.last_number : rp_comms_lookup(comm);
}

#endif

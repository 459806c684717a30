/* SPDX-License-Identifier: MIT */
/*
 * Collectives. What a rank calls is compared with what the others call, and a rank leaves a
 * blocking one when all have arrived.
 */
#ifndef RP_DET_COLLECTIVES_H
#define RP_DET_COLLECTIVES_H

#include "det/det_request_table.h"

enum rp_det_manner {
    RP_DET_SYNCHRONISES, /* MPI itself lets no rank leave before all have arrived */
    RP_DET_MAY_NOT,
};

enum { RP_DET_NO_ROOT = -1000000 };

/* What is called, as the generated entries say it. */
struct rp_det_operation {
    uint32_t function; /* a number that is made of its name */
    int root;
    uint32_t op; /* rp_det_op; 0: none */
};

/* Before and after the real call of a blocking collective. The first returns NULL where this rank
 * is alone. */
struct rp_shared_collective *rp_det_collective_enter(enum rp_det_manner manner, MPI_Comm comm,
                                                     struct rp_det_operation what);
void rp_det_collective_leave(struct rp_shared_collective *collective);

/* Arrives at collective `number` of `key` and waits until `size` members have arrived. */
void rp_det_collective_wait(uint64_t key, uint64_t number, const uint64_t *members, uint32_t size,
                            const struct rp_shared_call *call);
struct rp_shared_call rp_det_call(const struct rp_det_comm *comm, struct rp_det_operation what);

/* Of calls that need not wait: they are only compared. Returns their number on the communicator; 0:
 * this rank is alone. */
uint64_t rp_det_collective_compare(MPI_Comm comm, struct rp_det_operation what);

/* Before a nonblocking call, and before a persistent one is started. */
struct rp_shared_collective *rp_det_collective_begin(MPI_Comm comm, struct rp_det_operation what);
struct rp_shared_collective *rp_det_collective_start(struct rp_det_request *own);

/* After the real call, which returned rc and made the request: of a nonblocking call, of one that
 * makes a communicator, of one that makes a persistent request. They return rc. */
int rp_det_collective_begun(int rc, struct rp_shared_collective *collective, MPI_Request *request);
int rp_det_collective_begun_comm(int rc, struct rp_shared_collective *collective, MPI_Comm parent,
                                 MPI_Comm *made, MPI_Request *request);
int rp_det_collective_init(int rc, MPI_Comm comm, uint64_t number, MPI_Request *request);

/* MPI_Comm_free, and MPI_Comm_disconnect, which waits for all: `function` is its number, `real`
 * makes the call. */
int rp_det_Comm_free(int (*real)(MPI_Comm *), MPI_Comm *comm, uint32_t function);
int rp_det_Comm_disconnect(int (*real)(MPI_Comm *), MPI_Comm *comm, uint32_t function);

#endif

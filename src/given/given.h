/* SPDX-License-Identifier: MIT */
/*
 * What the generated entry points of libreprise-given.so call. It stands in front of libreprise.so
 * in replays that are compared with each other, and writes down, since the rank's first commutative
 * region began, what the program hands to MPI: the data of sends, contributions to collective
 * calls, what is written into files by MPI; of each a digest (log/givenlog.h). Only the thread that
 * has regions is followed.
 */
#ifndef RP_GIVEN_H
#define RP_GIVEN_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hidden.h"
#include "mpi/lookup.h"
#include "next.h"

#define RP_ENTRY __attribute__((visibility("default")))
#define RP_TAIL
#define RP_PLACE (uintptr_t) __builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)
#define RP_GIVEN __builtin_expect(rp_given_on && !rp_given_inside, 0)

extern RP_HIDDEN __thread int rp_given_on;     /* this thread has begun a region */
extern RP_HIDDEN __thread int rp_given_inside; /* calls are MPI's own */

/* Who makes the call that one of the others tells of. */
void rp_given_by(const char *function, uintptr_t return_address, uintptr_t stack);
/* From here on it cannot be told whose calls are. */
void rp_given_stop(void);

/* given_data.c: one item of data, in parts. */
void rp_given_start(void);
void rp_given_add(const void *buf, MPI_Count count, MPI_Datatype type);
void rp_given_tell(int peer);
const void *rp_given_at(const void *buf, MPI_Count elements,
                        MPI_Datatype type); /* so many elements further on */
void rp_given_type_freed(MPI_Datatype *type);

/* given_sends.c */
void rp_given_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest);
void rp_given_made(MPI_Request request, const void *buf, MPI_Count count, MPI_Datatype type,
                   int dest);
void rp_given_started(int count, const MPI_Request *requests);
void rp_given_freed(const MPI_Request *request);
void rp_given_written(const void *buf, MPI_Count count, MPI_Datatype type);

/* given_collectives.c: the arguments as in MPI, as far as they matter. An array of numbers is
 * followed by the size of one. */
void rp_given_bcast(const void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void rp_given_gather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                     MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
void rp_given_allgather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                        MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
void rp_given_gatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                      const void *counts, size_t count_size, const void *places, size_t place_size,
                      MPI_Datatype out_type, int root, MPI_Comm comm);
void rp_given_allgatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                         const void *counts, size_t count_size, const void *places,
                         size_t place_size, MPI_Datatype out_type, MPI_Comm comm);
void rp_given_scatter(const void *in, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void rp_given_scatterv(const void *in, const void *counts, size_t count_size, const void *places,
                       size_t place_size, MPI_Datatype type, int root, MPI_Comm comm);
void rp_given_alltoall(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                       MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
void rp_given_alltoallv(const void *in, const void *counts, size_t count_size, const void *places,
                        size_t place_size, MPI_Datatype type, const void *out,
                        const void *out_counts, const void *out_places, MPI_Datatype out_type,
                        MPI_Comm comm);
void rp_given_alltoallw(const void *in, const void *counts, size_t count_size, const void *places,
                        size_t place_size, const MPI_Datatype *types, const void *out,
                        const void *out_counts, const void *out_places,
                        const MPI_Datatype *out_types, MPI_Comm comm);
void rp_given_reduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type, int root,
                     MPI_Comm comm);
void rp_given_allreduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type);
void rp_given_reduce_scatter(const void *in, const void *out, const void *counts, size_t count_size,
                             MPI_Datatype type, MPI_Comm comm);
void rp_given_reduce_scatter_block(const void *in, const void *out, MPI_Count count,
                                   MPI_Datatype type, MPI_Comm comm);
void rp_given_neighbor_allgather(const void *in, MPI_Count count, MPI_Datatype type);
void rp_given_neighbor_alltoall(const void *in, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void rp_given_neighbor_alltoallv(const void *in, const void *counts, size_t count_size,
                                 const void *places, size_t place_size, MPI_Datatype type,
                                 MPI_Comm comm);
void rp_given_neighbor_alltoallw(const void *in, const void *counts, size_t count_size,
                                 const void *places, size_t place_size, const MPI_Datatype *types,
                                 MPI_Comm comm);

#endif

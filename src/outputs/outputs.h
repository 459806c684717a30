/* SPDX-License-Identifier: MIT */
/*
 * What the generated entry points of libreprise-outputs.so call. The library stands in front of
 * libreprise.so in replays that are compared with each other. From the rank's first commutative
 * region on, it digests what the program passes to MPI: the data of sends, contributions to
 * collective calls, what MPI-IO writes (log/output_log.h). Only the thread that has regions is
 * followed.
 */
#ifndef RP_OUTPUTS_H
#define RP_OUTPUTS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"
#include "preload/real_functions.h"
#include "next.h"

#define RP_TAIL
#define RP_PLACE (uintptr_t) __builtin_return_address(0), (uintptr_t)__builtin_frame_address(0)
#define RP_OUTPUTS __builtin_expect(rp_outputs_on && !rp_outputs_inside, 0)

extern RP_HIDDEN __thread int rp_outputs_on;     /* this thread has begun a region */
extern RP_HIDDEN __thread int rp_outputs_inside; /* calls are MPI's own */

/* Announces the program's call of `function`, at this place: what the functions below digest next
 * is part of it. */
void rp_outputs_by(const char *function, uintptr_t return_address, uintptr_t stack);
/* Ends the digests of this thread: from here on, calls may be MPI's own. */
void rp_outputs_stop(void);

/* outputs_data.c */

/* Begins the digest of one item, adds data to it, and writes it down; `peer`: the rank that gets
 * the data. */
void rp_outputs_start(void);
void rp_outputs_add(const void *buf, MPI_Count count, MPI_Datatype type);
void rp_outputs_digest(int peer);
/* Returns the address so many elements behind `buf`. */
const void *rp_outputs_at(const void *buf, MPI_Count elements, MPI_Datatype type);
/* Called at MPI_Type_free: forgets what is known of the type. */
void rp_outputs_type_freed(MPI_Datatype *type);

/* outputs_sends.c: sends, persistent sends, and what MPI-IO writes */
void rp_outputs_send(const void *buf, MPI_Count count, MPI_Datatype type, int dest);
void rp_outputs_made(MPI_Request request, const void *buf, MPI_Count count, MPI_Datatype type,
                     int dest);
void rp_outputs_started(int count, const MPI_Request *requests);
void rp_outputs_freed(const MPI_Request *request);
void rp_outputs_written(const void *buf, MPI_Count count, MPI_Datatype type);

/* outputs_collectives.c: the arguments as in MPI, as far as they matter. An array of numbers is
 * followed by the size of one. */
void rp_outputs_bcast(const void *buf, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void rp_outputs_gather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                       MPI_Count out_count, MPI_Datatype out_type, int root, MPI_Comm comm);
void rp_outputs_allgather(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                          MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
void rp_outputs_gatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                        const void *counts, size_t count_size, const void *places,
                        size_t place_size, MPI_Datatype out_type, int root, MPI_Comm comm);
void rp_outputs_allgatherv(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                           const void *counts, size_t count_size, const void *places,
                           size_t place_size, MPI_Datatype out_type, MPI_Comm comm);
void rp_outputs_scatter(const void *in, MPI_Count count, MPI_Datatype type, int root,
                        MPI_Comm comm);
void rp_outputs_scatterv(const void *in, const void *counts, size_t count_size, const void *places,
                         size_t place_size, MPI_Datatype type, int root, MPI_Comm comm);
void rp_outputs_alltoall(const void *in, MPI_Count count, MPI_Datatype type, const void *out,
                         MPI_Count out_count, MPI_Datatype out_type, MPI_Comm comm);
void rp_outputs_alltoallv(const void *in, const void *counts, size_t count_size, const void *places,
                          size_t place_size, MPI_Datatype type, const void *out,
                          const void *out_counts, const void *out_places, MPI_Datatype out_type,
                          MPI_Comm comm);
void rp_outputs_alltoallw(const void *in, const void *counts, size_t count_size, const void *places,
                          size_t place_size, const MPI_Datatype *types, const void *out,
                          const void *out_counts, const void *out_places,
                          const MPI_Datatype *out_types, MPI_Comm comm);
void rp_outputs_reduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type,
                       int root, MPI_Comm comm);
void rp_outputs_allreduce(const void *in, const void *out, MPI_Count count, MPI_Datatype type);
void rp_outputs_reduce_scatter(const void *in, const void *out, const void *counts,
                               size_t count_size, MPI_Datatype type, MPI_Comm comm);
void rp_outputs_reduce_scatter_block(const void *in, const void *out, MPI_Count count,
                                     MPI_Datatype type, MPI_Comm comm);
void rp_outputs_neighbor_allgather(const void *in, MPI_Count count, MPI_Datatype type);
void rp_outputs_neighbor_alltoall(const void *in, MPI_Count count, MPI_Datatype type,
                                  MPI_Comm comm);
void rp_outputs_neighbor_alltoallv(const void *in, const void *counts, size_t count_size,
                                   const void *places, size_t place_size, MPI_Datatype type,
                                   MPI_Comm comm);
void rp_outputs_neighbor_alltoallw(const void *in, const void *counts, size_t count_size,
                                   const void *places, size_t place_size, const MPI_Datatype *types,
                                   MPI_Comm comm);

#endif

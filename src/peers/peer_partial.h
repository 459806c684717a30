/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-partial.so offers to the engine in libreprise.so, which stands in front of it.
 * Where it is not preloaded, these are NULL.
 *
 * Recording, it writes down all that MPI gives to a rank of the set. Alone, it is the MPI of that
 * rank: it gives the same again, without any other rank.
 */
#ifndef RP_PEER_PARTIAL_H
#define RP_PEER_PARTIAL_H

#include <stdint.h>

#define RP_DATA_OFFERED __attribute__((weak, visibility("default")))

struct rp_problem;

/* Behind it is nothing but the MPI library. */
RP_DATA_OFFERED int reprise_partial_is_last(void);

/* The calling thread's calls are to be written down in the record's directory. Returns an enum
 * rp_status. */
RP_DATA_OFFERED int reprise_partial_record(const char *directory, uint64_t run, int rank, int ranks,
                                           struct rp_problem *why);

/* The calling thread's calls are to be answered from there. */
RP_DATA_OFFERED int reprise_partial_follow(const char *directory, uint64_t run, int rank, int ranks,
                                           struct rp_problem *why);

/* From now on. */
RP_DATA_OFFERED void reprise_partial_go(void);

/* MPI is about to end: calls go through again. Returns the bytes written. */
RP_DATA_OFFERED uint64_t reprise_partial_close(void);

/* A value from outside MPI that the program was told: written down, or alone given. */
RP_DATA_OFFERED void reprise_partial_value(int32_t *a, uint64_t *c);

/*
 * OpenSHMEM; NULL in a library that was built without its header. Recording: its library is about
 * to be started, in every PE. Then, in both modes: it was started, or alone is to be replaced;
 * `provided` is what the program is told. And: its end, up to that of MPI; returns whether this PE
 * was looked at until then.
 */
RP_DATA_OFFERED void reprise_partial_shmem_before(void);
RP_DATA_OFFERED void reprise_partial_shmem_begin(int *provided);
RP_DATA_OFFERED int reprise_partial_shmem_end(void);

/* Several threads may call from now on. Returns only if the data of this rank could be given up. */
RP_DATA_OFFERED void reprise_partial_threads(void);

#endif

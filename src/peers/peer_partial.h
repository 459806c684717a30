/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-partial.so offers to the engine in libreprise.so, which stands in front of it.
 * Where it is not preloaded, these are NULL.
 *
 * In a recording, it writes the results of all MPI calls of a rank to the data log. In a partial
 * replay it takes the place of MPI: it feeds these results to the rank, without any other rank.
 */
#ifndef RP_PEER_PARTIAL_H
#define RP_PEER_PARTIAL_H

#include <stdint.h>

#define RP_DATA_OFFERED __attribute__((weak, visibility("default")))

struct rp_problem;

/* Returns whether only the MPI library stands behind libreprise-partial.so. */
RP_DATA_OFFERED int reprise_partial_is_last(void);

/* Opens the data log of `rank` in the record's `directory` for writing. `run` is the identity of
 * the run, `ranks` the size of MPI_COMM_WORLD. The calls of the calling thread are recorded from
 * reprise_partial_go on. Returns an enum rp_status; on failure *why has the reason. */
RP_DATA_OFFERED int reprise_partial_record(const char *directory, uint64_t run, int rank, int ranks,
                                           struct rp_problem *why);

/* Opens the same log for a partial replay. The calls of the calling thread are fed from it from
 * reprise_partial_go on. */
RP_DATA_OFFERED int reprise_partial_follow(const char *directory, uint64_t run, int rank, int ranks,
                                           struct rp_problem *why);

/* Starts to record, or to feed, the calls of this thread. */
RP_DATA_OFFERED void reprise_partial_go(void);

/* Several threads: the calling one is about to end the rank. Feeding, waits until the others have
 * made what is in the record. */
RP_DATA_OFFERED void reprise_partial_end(void);

/* MPI is about to be finalized: calls are no longer recorded or fed. Returns the bytes written. */
RP_DATA_OFFERED uint64_t reprise_partial_close(void);

/* In a partial replay: whether the recorded rank left a call by an error handler, and the replay
 * ends there, as it must. */
RP_DATA_OFFERED int reprise_partial_was_left(void);

/* Handles a captured value, an int and 64 bits: records *a and *c, or in a partial replay sets them
 * from the record. Returns 0 if another thread ended MPI meanwhile. */
RP_DATA_OFFERED int reprise_partial_value(int32_t *a, uint64_t *c);

/*
 * OpenSHMEM. These are NULL in a library that was built without its header. A recording calls
 * reprise_partial_shmem_before in every PE before the real library is started. Both modes call
 * reprise_partial_shmem_begin when it was started (in a partial replay: instead of starting it);
 * *provided is the thread level that the program gets. reprise_partial_shmem_end ends OpenSHMEM; it
 * returns whether this PE was recorded or fed until then.
 */
RP_DATA_OFFERED void reprise_partial_shmem_before(void);
RP_DATA_OFFERED void reprise_partial_shmem_begin(int *provided);
RP_DATA_OFFERED int reprise_partial_shmem_end(void);

/* Several threads may call MPI from now on. Ends the job if such a rank can be neither recorded nor
 * fed. */
RP_DATA_OFFERED void reprise_partial_threads(void);

/*
 * Turns of threads, all under their lock. reprise_partial_turn_begin and reprise_partial_turn_end
 * stand around a call of `function`, which takes a lock: recording, it is noted; feeding, the first
 * waits for the thread's turn. reprise_partial_value_taken ends the turn that a value began.
 * Feeding, reprise_partial_await waits for the turn of a call of MPI, so that nobody else gets the
 * lock inside it; reprise_partial_poll does so, too, unless a poll is to be answered no: then it
 * returns 0. reprise_partial_waits stands around each poll of a call that waits, and
 * reprise_partial_asks around calls of our own, which are the same in both runs.
 */
RP_DATA_OFFERED void reprise_partial_turn_begin(const char *function);
RP_DATA_OFFERED void reprise_partial_turn_end(void);
RP_DATA_OFFERED void reprise_partial_value_taken(void);
RP_DATA_OFFERED void reprise_partial_await(const char *function);
RP_DATA_OFFERED int reprise_partial_poll(const char *function);
RP_DATA_OFFERED void reprise_partial_waits(int begins);
RP_DATA_OFFERED void reprise_partial_asks(int begins);

#endif

/* SPDX-License-Identifier: MIT */
/* Ranks of one host that wait for messages sleep, and who sends wakes them: with more ranks than
 * cores, polling would take the core from who is to send. */
#ifndef RP_WAKEUP_H
#define RP_WAKEUP_H

#include <mpi.h>

#include "log/replaystate.h"

void rp_wakeup_open(struct rp_replay_state *state, uint32_t first, int rank, int ranks);

/* From now on, a rank that sends to this one wakes it. The caller checks once more whether what it
 * waits for has happened, and then sleeps or stops listening. */
void rp_wakeup_listen(void);

/* Until it rings, but not longer; not all that ends a wait rings. Listens no more. */
void rp_wakeup_sleep(long microseconds);

void rp_wakeup_stop_listening(void);

/* A message was sent to this rank of the communicator. */
void rp_wakeup_ring(int dest, MPI_Comm comm);

/* A message was sent, to somebody. */
void rp_wakeup_ring_all(void);

#endif

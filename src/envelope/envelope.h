/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-envelope.so offers to the engine in libreprise.so, which stands in front of it. Where it is not preloaded, these are NULL.
 *
 * Every point-to-point message of the program carries eight bytes in front of its payload: a Lamport clock and the sender's rank in MPI_COMM_WORLD.
 * Both libraries are entered by one thread only.
 */
#ifndef RP_ENVELOPE_LIBRARY_H
#define RP_ENVELOPE_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

#define RP_OFFERED __attribute__((weak, visibility("default")))

/* A receive that a call completed. */
struct rp_stamp {
    int32_t index;  /* in the call's array of requests; -1: it has none */
    int32_t sender; /* rank in MPI_COMM_WORLD */
    uint64_t clock; /* that the message was sent with */
};

/* From now on messages are in envelopes. Called by every process of the job when MPI was initialised, before its first point-to-point call. */
RP_OFFERED void reprise_envelope_open(int world_rank);

/* MPI is about to end: what is kept for later messages is freed. Messages stay in envelopes. */
RP_OFFERED void reprise_envelope_close(void);

/* The receives that the last completing call (Recv, Sendrecv, Mrecv, Wait*, Test*) gave to the program, in the order in which it gave them; valid
 * until the next. The clock moves on by them only now: completions that nobody takes were not the program's. A second call returns 0. */
RP_OFFERED size_t reprise_envelope_take(const struct rp_stamp **stamps);

/* Whether the program made a collective call since this was last asked: others may have learnt by it, without a clock, what was received before. */
RP_OFFERED int reprise_envelope_synced(void);

#endif

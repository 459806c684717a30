/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-piggyback.so offers to the engine in libreprise.so, which stands in front of it.
 * Where it is not preloaded, these are NULL.
 *
 * Every point-to-point message of the program carries eight bytes in front of its payload: a
 * Lamport clock and the sender's rank in MPI_COMM_WORLD. Both libraries are entered by one thread
 * only.
 */
#ifndef RP_ENVELOPE_LIBRARY_H
#define RP_ENVELOPE_LIBRARY_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RP_OFFERED __attribute__((weak, visibility("default")))

/* A receive that a call completed. */
struct rp_stamp {
    int32_t index;  /* in the call's array of requests; -1: it has none */
    int32_t sender; /* rank in MPI_COMM_WORLD */
    uint64_t clock; /* that the message was sent with */
};

/* From now on messages are in envelopes. Called by every process of the job when MPI was
 * initialised, before its first point-to-point call. */
RP_OFFERED void reprise_piggyback_open(int world_rank);

/* MPI is about to end: what is kept for later messages is freed. Messages stay in envelopes. */
RP_OFFERED void reprise_piggyback_close(void);

/* The receives that the last completing call (Recv, Sendrecv, Mrecv, Wait*, Test*) gave to the
 * program, in the order in which it gave them; valid until the next. The clock moves on by them
 * only now: completions that nobody takes were not the program's. A second call returns 0. */
RP_OFFERED size_t reprise_piggyback_take(const struct rp_stamp **stamps);

/* Whether the program made a collective call without a clock since this was last asked: others may
 * have learnt by it what was received before. */
RP_OFFERED int reprise_piggyback_synced(void);

/* For a replay by clocks, which receives what is in envelopes itself. */

/* While more were begun than ended, calls are let through as they are. */
RP_OFFERED void reprise_piggyback_pause(int by);

/* A receive of a message with this clock was given to the program. */
RP_OFFERED void reprise_piggyback_received(uint64_t clock);

RP_OFFERED uint64_t reprise_piggyback_clock(void);

/* What a message on the wire begins with. */
struct rp_stamp_parts {
    uint64_t clock;
    int32_t sender;
};
RP_OFFERED struct rp_stamp_parts reprise_piggyback_parts(uint64_t stamp);

struct rp_piggyback_hooks {
    void (*sending)(MPI_Comm comm,
                    int dest);       /* a message with the clock as it is now is about to be sent */
    void (*rest)(void);              /* a blocking send waits: it is called again and again */
    void (*rested)(void);            /* it no longer does */
    void (*entering)(MPI_Comm comm); /* before a blocking collective call */
    void (*unseen)(
        int enters); /* before and after one that makes a communicator of some processes */
    void (*made)(MPI_Comm comm); /* a new communicator */
};
RP_OFFERED void reprise_piggyback_hook(const struct rp_piggyback_hooks *hooks);

#endif

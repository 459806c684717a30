/* SPDX-License-Identifier: MIT */
/*
 * What libreprise-piggyback.so offers to the engine in libreprise.so, which stands in front of it.
 * Where it is not preloaded, these are NULL.
 *
 * Every point-to-point message of the program carries eight bytes in front of its payload: a
 * Lamport clock and the sender's rank in MPI_COMM_WORLD. Both libraries are entered by one thread
 * only.
 */
#ifndef RP_PEER_PIGGYBACK_H
#define RP_PEER_PIGGYBACK_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#define RP_OFFERED __attribute__((weak, visibility("default")))

/* A receive that a call completed. */
struct rp_stamp {
    int32_t index;  /* in the call's array of requests; -1: it has none */
    int32_t sender; /* rank in MPI_COMM_WORLD */
    uint64_t clock; /* the clock that the message carried */
};

/* From now on messages carry stamps. Every process of the job calls this when MPI was initialised,
 * before its first point-to-point call. */
RP_OFFERED void reprise_piggyback_open(int world_rank);

/* MPI is about to be finalized: frees what is kept for later messages. Messages still carry stamps.
 */
RP_OFFERED void reprise_piggyback_close(void);

/* Returns how many receives the last matching function (Recv, Sendrecv, Mrecv, Wait*, Test*)
 * completed for the program, and sets `stamps` to theirs, in the order of the call; they are valid
 * until the next matching function. The clock advances by them only now: completions that nobody
 * takes were not the program's. A second call returns 0. */
RP_OFFERED size_t reprise_piggyback_take(const struct rp_stamp **stamps);

/* Returns whether, since the last call of this function, the program made a collective call that
 * exchanged no clocks. Through such a call, others may have learnt of messages that this process
 * received before. */
RP_OFFERED int reprise_piggyback_synced(void);

/* The functions below are for a replay by clocks, which receives stamp and payload itself. */

/* Begins (`by` = 1) or ends (-1) a time in which calls go to MPI unchanged. Such times nest. */
RP_OFFERED void reprise_piggyback_pause(int by);

/* Advances the clock: the program received a message that carried `clock`. */
RP_OFFERED void reprise_piggyback_received(uint64_t clock);

/* Returns the clock of this process. */
RP_OFFERED uint64_t reprise_piggyback_clock(void);

/* The stamp that a message on the wire begins with, in its two parts. */
struct rp_stamp_parts {
    uint64_t clock;
    int32_t sender;
};
RP_OFFERED struct rp_stamp_parts reprise_piggyback_parts(uint64_t stamp);

struct rp_piggyback_hooks {
    void (*sending)(MPI_Comm comm,
                    int dest);       /* a message with the clock as it is now is about to be sent */
    void (*send_waits)(void);        /* a blocking send waits; called again and again */
    void (*send_returned)(void);     /* that send has returned */
    void (*entering)(MPI_Comm comm); /* before a blocking collective call */
    void (*unseen)(int enters); /* before (1) and after (0) a call that makes a communicator of some
                                   processes */
    void (*made)(MPI_Comm comm); /* a new communicator */
};
RP_OFFERED void reprise_piggyback_hook(const struct rp_piggyback_hooks *hooks);

#endif

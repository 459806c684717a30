/* SPDX-License-Identifier: MIT */
/*
 * A parcel is what one process sends to another: a header, and bytes that depend on its kind. It is
 * counted by who uses it: the transport until it is sent, the log until the next checkpoint.
 */
#ifndef RP_TASK_PARCEL_H
#define RP_TASK_PARCEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum rp_parcel_kind {
    RP_PARCEL_MESSAGE = 1,
    RP_PARCEL_RESULT,                         /* of a reduction */
    RP_PARCEL_CHECKPOINT,                     /* copies of tasks, for the buddy */
    RP_PARCEL_MOVE,                           /* a task that moves */
    RP_PARCEL_COPY_REQUEST,                   /* numbers of tasks whose copies the sender needs */
    RP_PARCEL_COPY_REPLY,                     /* a copy, or that there is none */
    RP_PARCEL_COUNTED = RP_PARCEL_COPY_REPLY, /* up to here a phase waits for its arrival */
    RP_PARCEL_WAVE,                           /* asks for the counts of an idle process */
    RP_PARCEL_WAVE_COUNTS,                    /* the counts */
    RP_PARCEL_PHASE_ENDS,
    RP_PARCEL_RECOVERY,    /* what the sender has of tasks that the receiver takes over */
    RP_PARCEL_ACKNOWLEDGE, /* of determinants: the sender holds them */
};

/* The first bytes of a parcel. */
struct rp_parcel_head {
    uint8_t kind, entry;
    uint16_t cpi_bits;
    uint32_t epoch, phase;
    uint32_t task, spe, srn; /* of a message */
    uint32_t determinants;   /* how many are behind the data */
    uint32_t bytes;
    uint64_t ref, clock;
};

struct rp_parcel {
    uint32_t users;
    uint32_t length;
    struct rp_parcel *next; /* in a log */
    struct rp_arena *arena; /* that its memory is part of; NULL: it has memory of its own */
    _Alignas(16) uint8_t bytes[];
};

enum {
    RP_PARCEL_SPLIT = 1 << 26 /* what is longer and of many tasks is sent as several parcels: MPI
                                 counts bytes by an int */
};

/* A parcel with one user and room for `length` bytes, of the heap or of an arena. Without memory
 * the process aborts. */
struct rp_parcel *rp_parcel_new(size_t length);
struct rp_parcel *rp_parcel_in(struct rp_arenas *arenas, size_t length);

/* One user less; after the last one the memory is freed. */
void rp_parcel_drop(struct rp_parcel *parcel);

#endif

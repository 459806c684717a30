/* SPDX-License-Identifier: MIT */
/*
 * Finds which write a read found, in one piece of memory that several ranks access. The time of an
 * access is not known exactly, only two times between which it happened. Nothing here depends on
 * files or on MPI.
 */
#ifndef RP_WRITE_INDEX_H
#define RP_WRITE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_touch {
    uint32_t rank, host;  /* times of different hosts say nothing about each other */
    uint64_t at, length;  /* bytes */
    const uint8_t *value; /* the caller's; of a write NULL: not known */
    const uint8_t
        *mask; /* of a write, or NULL: for each 8 bytes from `at` on, which of them it changed */
    uint64_t begin, end;
    bool direct; /* what the same rank does behind it finds it done; a read was about at its end */
    uint64_t number; /* in the order of the rank's program; 0: not known */
    const void *tag; /* the caller's */
};

enum { RP_WRITERS_MOST = 8 };

/* Neighbouring bytes of a read that have the same answer. */
struct rp_write_part {
    uint64_t at, length;
    bool first; /* what the memory had in the beginning */
    const struct rp_touch
        *best; /* the write that it found, most likely; NULL: none that is known, or `first` */
    uint32_t
        rank[RP_WRITERS_MOST]; /* all that could have written it; several: it is not known which */
    size_t ranks;
};

struct rp_write_index;

/* `owner`: the rank whose memory it is; `known`: it was all zeros in the beginning but for writes
 * at time 0. NULL without memory. */
struct rp_write_index *rp_write_index_new(uint32_t owner, bool known);
void rp_write_index_free(struct rp_write_index *writers);

/* Writes and reads, in any order; then rp_write_index_ready, once. False without memory. */
bool rp_write_index_add(struct rp_write_index *writers, const struct rp_touch *touch, bool writes);
bool rp_write_index_ready(struct rp_write_index *writers);

/* Calls report(data, part) for each part of a read that was added, in the order of their places. */
void rp_write_index_find(const struct rp_write_index *writers, const struct rp_touch *read,
                         void (*report)(void *data, const struct rp_write_part *part), void *data);

#endif

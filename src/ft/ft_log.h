/* SPDX-License-Identifier: MIT */
/*
 * Sender-based message logging: a sender keeps what it sent, to send it again to a rank that
 * recovers. There is one log for each receiver. The memory of all belongs to this part.
 */
#ifndef RP_FT_LOG_H
#define RP_FT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/ft_mpi.h"
#include "ft/ft_envelope.h"

struct rp_arena;
struct rp_ft_request;

/* A message that was sent. Its payload follows it in memory. */
struct rp_ft_entry {
    struct rp_ft_entry *next;
    struct rp_arena *arena;
    MPI_Request real[2]; /* while it is being sent */
    bool under_way, matched;
    _Atomic bool taken;            /* by the receiver, if shared */
    struct rp_ft_request *request; /* that waits for it, or NULL */
    struct rp_ft_entry *next_under_way;
    long iteration; /* that it belongs to */
    size_t stored;  /* bytes of the payload that follow; fewer than it has if it is compressed */
    void *whole;    /* then: all of it, while it is sent from the log */
    struct rp_ft_envelope envelope; /* last: the payload follows */
};

struct rp_ft_log {
    struct rp_ft_entry *first, *last; /* in order of seq, those that may be needed again */
    struct rp_ft_entry *setup_first, *setup_last;
    uint64_t first_seq; /* what is before was released or dropped */
};

/* Prepares the memory, in a file that other processes can map if there can be one. */
void rp_ft_log_start(void);

/* Returns a descriptor of that file, or -1. */
int rp_ft_log_file(void);

/* Appends an entry with room for `stored` bytes, of the setup if `again`. The caller fills it in.
 * Ends the job without memory. */
struct rp_ft_entry *rp_ft_log_append(struct rp_ft_log *log, size_t stored, bool again);

/* Returns the payload that is stored with the entry. */
void *rp_ft_entry_payload(struct rp_ft_entry *entry);

/* Returns the place of that payload in the file, or RP_ARENA_NOWHERE. */
uint64_t rp_ft_log_place(const struct rp_ft_entry *entry);

/* The memory of this entry is never used again: MPI may still write there. */
void rp_ft_log_pin(struct rp_ft_entry *entry);

/* No receiver reads payloads in this log any more. */
void rp_ft_log_unshare(struct rp_ft_log *log);

/* What was sent until now belongs to the setup and stays. */
void rp_ft_log_setup_ends(struct rp_ft_log *log);

/* What is sent from here on belongs to this iteration. */
void rp_ft_log_begin(long iteration);

/* Forgets entries with a smaller seq, up to the first that is still being sent or read. */
void rp_ft_log_release(struct rp_ft_log *log, uint64_t before);

/* Returns whether the entry is still being sent or read, or a request waits for it. */
bool rp_ft_entry_is_in_use(const struct rp_ft_entry *entry);

/* Return the bytes in all logs, now and at the most. */
size_t rp_ft_log_bytes(void);
size_t rp_ft_log_peak(void);

#endif

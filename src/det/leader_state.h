/* SPDX-License-Identifier: MIT */
/*
 * What the leader of a host knows, and its connections to the leaders of other hosts. Its parts
 * share one struct: leader_send.c sends to other hosts, leader_receive.c receives from them,
 * leader.c is the thread that does both.
 */
#ifndef RP_LEADER_STATE_H
#define RP_LEADER_STATE_H

#include <poll.h>
#include <pthread.h>

#include "base/buffer.h"
#include "det/shared_bounds.h"
#include "det/shared_state.h"

/* Messages between leaders: a head of 8 bytes (the kind, and the length times 256), then words. */
enum rp_leader_message {
    RP_LEADER_MESSAGE, /* a message of the program: struct rp_shared_message */
    RP_LEADER_MATCHED, /* what became of a synchronous message */
    RP_LEADER_ARRIVAL, /* of a rank at a collective */
    RP_LEADER_FRAME,   /* how the ranks of the sender are */
    RP_LEADER_REQUEST, /* for one frame */
    RP_LEADER_ASK,     /* of the first host: may a rank of ours report an error? */
    RP_LEADER_ANSWER,  /* to that: enum rp_leader_answer */
    RP_LEADER_SITES,   /* records of call sites, before what refers to them */
};
enum rp_leader_answer { RP_LEADER_MAY = 1, RP_LEADER_MAY_NOT = 2 };
enum {
    RP_LEADER_HEAD = 8,               /* bytes */
    RP_LEADER_SHORTEST_PAUSE = 30000, /* nanoseconds between two frames */
    RP_LEADER_LONGEST_PAUSE = 400000
};
#define RP_LEADER_END UINT64_MAX /* ends a part of a frame */

/* The leader of another host. */
struct rp_leader_peer {
    int fd; /* -1: ourselves, or it is gone */
    struct rp_buffer out, in;
    size_t sent, read;    /* of these */
    uint64_t last_sent;   /* the last change that was in a frame */
    bool wants, is_asked; /* it wants a frame; we asked it for one */
};

/* How a rank is, as a frame has it. */
struct rp_leader_rank {
    uint64_t clock, wait, target, candidate, comm, number, fresh, awaits_collectives, is_idle;
    char what[40];
    uint64_t relied[]; /* as in rp_shared_look_again */
};

struct rp_leader {
    struct rp_leader_peer *peers;
    struct pollfd *polled;
    pthread_t thread;
    _Atomic uint32_t stops;
    uint64_t changes;             /* counts what was new */
    char *states;                 /* by rank: struct rp_leader_rank */
    struct rp_leader_rank *found; /* of one */
    struct rp_shared_look *looks;
    struct {
        uint64_t state, sent;
    } * changed;        /* by rank: at which change */
    uint64_t *sent;     /* by host and rank */
    uint64_t *received; /* by rank and host */
    uint64_t *received_changed;
    uint64_t *arrivals;       /* by host: at collectives, that it sent all others */
    uint64_t *arrivals_known; /* by host and host: of these */
    uint64_t *sites;          /* by host and rank: bytes of sites that it was sent */
    struct {
        uint64_t end, spare;
    } * messages; /* by rank of other hosts: copies of its messages */
    long pause;
};
extern struct rp_leader rp_leader;

/* Makes room. False: out of memory. */
bool rp_leader_make_room(void);

void rp_leader_give_up(const char *what) __attribute__((noreturn));

/* Places in the arrays. */
uint64_t *rp_leader_sent_by(uint32_t host, uint32_t rank);
size_t rp_leader_from_host(uint32_t rank, uint32_t host);
uint64_t *rp_leader_arrivals_known(uint32_t by, uint32_t host);
size_t rp_leader_rank_size(void);
struct rp_leader_rank *rp_leader_rank(uint32_t rank);

/* Appends a message for a peer; the bytes between the two calls are its content. */
size_t rp_leader_open_message(struct rp_leader_peer *peer);
void rp_leader_close_message(struct rp_leader_peer *peer, enum rp_leader_message kind,
                             size_t begin);
void rp_leader_say(struct rp_leader_peer *peer, enum rp_leader_message kind, const uint64_t *words,
                   size_t count);

/* Sends as much as the connection takes now. */
void rp_leader_flush(struct rp_leader_peer *peer);

/* The connection broke: ends the job, unless all ranks of this host have finished. */
void rp_leader_lose(struct rp_leader_peer *peer);

#endif

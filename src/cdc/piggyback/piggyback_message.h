/* SPDX-License-Identifier: MIT */
/* One message of the program with its stamp, from the call that sends or receives it to its
 * completion. */
#ifndef RP_PIGGYBACK_H
#define RP_PIGGYBACK_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rp_piggyback_kind {
    RP_PIGGYBACK_NOW,        /* the call that it is for completes it */
    RP_PIGGYBACK_LATER,      /* a request stands for it */
    RP_PIGGYBACK_PERSISTENT, /* the same, but it is stamped and filled at each start */
    RP_PIGGYBACK_REPLACED,   /* sent now, from where the call receives */
};

struct rp_piggyback_message {
    struct rp_piggyback_message *next; /* in the pool */
    MPI_Request request;
    void *buf;         /* the program's */
    size_t payload;    /* bytes: all that are sent, the most that can be received */
    size_t size;       /* of an element, if they are packed; 0: they are just copied */
    MPI_Datatype type; /* of an element */
    MPI_Comm comm;     /* of a persistent send */
    int dest;
    bool owns_type;
    uint8_t pool;
    bool receives;
    bool copies;    /* the payload is behind the stamp; else it is in place */
    bool in_device; /* the program's memory is a GPU's */
    bool persistent;
    bool active;
    bool delivered; /* what was received is with the program */
    uint64_t stamp;
    unsigned char bytes[]; /* right behind the stamp */
};

_Static_assert(offsetof(struct rp_piggyback_message, bytes) ==
                   offsetof(struct rp_piggyback_message, stamp) + sizeof(uint64_t),
               "stamp and payload are one message");

/* What the real function gets instead of the program's buffer. */
struct rp_wire {
    void *buf;
    int count;
    MPI_Datatype type;
};

/* NULL: the arguments are wrong in a way that the real function reports. */
struct rp_piggyback_message *rp_piggyback_to_send(enum rp_piggyback_kind kind, const void *buf,
                                                  MPI_Count count, MPI_Datatype type,
                                                  struct rp_wire *wire);
struct rp_piggyback_message *rp_piggyback_to_receive(enum rp_piggyback_kind kind, void *buf,
                                                     MPI_Count count, MPI_Datatype type,
                                                     struct rp_wire *wire);

/* A persistent request is started. */
void rp_piggyback_begin(struct rp_piggyback_message *message);

/* Gives the payload to the program, once, and takes the stamp off the status' count. `failed`: the
 * receive did, so that there may be nothing. */
void rp_piggyback_deliver(struct rp_piggyback_message *message, MPI_Status *status, bool failed);

/* Takes the stamp off the count of a message that was seen or received, and returns what is left.
 * -1: it has no stamp, being cancelled or `failed`. A message without stamp ends the job. */
MPI_Count rp_piggyback_uncount(MPI_Status *status, bool failed);

int rp_piggyback_error_class(int rc);

void rp_piggyback_free(struct rp_piggyback_message *message);

#endif

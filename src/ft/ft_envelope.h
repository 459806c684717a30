/* SPDX-License-Identifier: MIT */
/*
 * What travels: each message of the program, and each of the library's own, begins with an
 * envelope. A short payload follows it; a longer one is a message by itself, or stays in the
 * sender's log.
 *
 * Messages of the program are numbered in their *channel*, which is a pair of ranks. This pair of
 * sender and number is what the program's message is known by, in its repetition as well.
 */
#ifndef RP_FT_ENVELOPE_H
#define RP_FT_ENVELOPE_H

#include <stdint.h>

enum rp_ft_kind {
    RP_FT_DATA = 1,    /* a message of the program */
    RP_FT_CHECKPOINT,  /* a copy of the sender's checkpoint of generation `seq`, to be kept */
    RP_FT_STORED,      /* the sender keeps our checkpoint of generation `seq` */
    RP_FT_SAFE,        /* all that keep the sender's checkpoint have generation `seq` */
    RP_FT_MATCHED,     /* our message `seq` has met its receive */
    RP_FT_ASK_MATCHED, /* the sender asks for RP_FT_MATCHED of its message `seq` */
    RP_FT_OFFER,       /* the sender's log may be read: `seq` is the number it begins with */
    RP_FT_ACCEPT,      /* our log can be read by the sender */
    RP_FT_DECLINE,     /* the payload of our message `seq` cannot be read in our log */
    RP_FT_KINDS
};

enum {
    RP_FT_SETUP = 1,  /* it repeats a message of the setup, for a rank that runs through it again */
    RP_FT_SYNC = 2,   /* the sender waits until it is matched */
    RP_FT_SHARED = 4, /* the payload is read in the sender's log */
    RP_FT_STABLE_BUFFER = 8, /* never travels: the program's buffer does not change until the
                                message has left */
};

struct rp_ft_envelope {
    uint32_t kind, flags;
    int32_t context; /* two for each communicator: messages and collectives */
    int32_t source;  /* the sender's rank in that communicator */
    int32_t tag;
    int32_t from; /* the sender's rank */
    uint64_t seq; /* in its channel */
    uint64_t bytes;
    uint64_t place; /* of the payload, if shared */
};

enum {
    RP_FT_INLINE = 16384,     /* longer payloads that travel do so by themselves */
    RP_FT_SHARED_FROM = 2048, /* shorter ones always travel */
};

#endif

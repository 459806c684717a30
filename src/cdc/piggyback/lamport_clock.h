/* SPDX-License-Identifier: MIT */
/* The Lamport clock of this process, and the stamps of the messages that it received. */
#ifndef RP_LAMPORT_CLOCK_H
#define RP_LAMPORT_CLOCK_H

#include <stdint.h>

/* Messages are in envelopes. */
extern int rp_piggyback_is_open;

/* What no stamp is. */
#define RP_NO_STAMP UINT64_MAX

/* Collective calls of the program without a clock. */
extern unsigned long rp_piggyback_collectives;

/* NULL: none. */
extern const struct rp_piggyback_hooks *rp_hooks;

/* The stamp of a message that is sent now. */
uint64_t rp_stamp_make(void);

/* A completing call begins: what the one before completed is forgotten. */
void rp_stamps_clear(void);

/* The call completed a receive. */
void rp_stamps_add(int index, uint64_t stamp);

#endif

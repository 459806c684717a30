/* SPDX-License-Identifier: MIT */
/*
 * The Lamport clock of this process, and the stamps of the messages that it received. Receives move
 * it: in records by reprise_piggyback_take, in replays by reprise_piggyback_received, as the record
 * did (axiom 1 (i)). Only if the clock is replayed is the replay correct (section 5, theorem 2).
 */
#ifndef RP_LAMPORT_CLOCK_H
#define RP_LAMPORT_CLOCK_H

#include <stdint.h>

/* Whether messages carry stamps. */
extern int rp_piggyback_is_open;

/* A value that no stamp has. */
#define RP_NO_STAMP UINT64_MAX

/* How many collective calls the program made that are not followed by an exchange of clocks. */
extern unsigned long rp_piggyback_collectives;

/* What the replay by clocks does at calls of the program; NULL in other modes. */
extern const struct rp_piggyback_hooks *rp_hooks;

/* Returns the stamp of a message that is sent now, and advances the clock. */
uint64_t rp_stamp_make(void);

/* A matching function begins: forgets what the one before completed. */
void rp_stamps_clear(void);

/* Notes that the matching function completed a receive of this stamp; `index`: of the request among
 * those of the call, or -1. */
void rp_stamps_add(int index, uint64_t stamp);

#endif

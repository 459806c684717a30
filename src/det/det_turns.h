/* SPDX-License-Identifier: MIT */
/* What ranks do in an order without messages (peers/peer_det.h has more of it). */
#ifndef RP_DET_TURNS_H
#define RP_DET_TURNS_H

/* Waits until all other ranks of all jobs are known to be later than this one: in logical time, and
 * those of one time by rank. */
void rp_det_wait_for_turn(void);

#endif

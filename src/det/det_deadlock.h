/* SPDX-License-Identifier: MIT */
/* What a rank waits for, and a deadlock, in words. */
#ifndef RP_DET_DEADLOCK_H
#define RP_DET_DEADLOCK_H

#include "det/det_matching.h"

/* In a deadlock: this rank publishes what it waits for (NULL: it is inside MPI, or waits for
 * nothing), for the rank that reports. */
void rp_det_publish_wait(const struct rp_det_wait *wait);

/* Before a collective on it inside MPI: this rank can say no more then. */
void rp_det_publish_comm(const struct rp_det_comm *comm);

/* Appends "for a message from rank 1 with tag 0 on MPI_COMM_WORLD": what it waits for, without the
 * place. */
void rp_det_put_wait(struct rp_buffer *text, const struct rp_det_wait *wait);

/* Reports the deadlock, for all ranks. */
void rp_det_report_deadlock(void);

#endif

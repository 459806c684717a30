/* SPDX-License-Identifier: MIT */
/* Step 2 of a recovery: dead ranks are replaced (ft_recover.c). */
#ifndef RP_FT_REPLACEMENT_H
#define RP_FT_REPLACEMENT_H

#include "ft/ft_attempt.h"

/* Gives each rank that nobody has to a spare. Sets `ended` if all ranks have finished, `lacking` to
 * the number of processes that are to be started. Ends the job if the user does not allow them. */
void rp_ft_assign_ranks(struct rp_ft_attempt *a);

/* Finds which checkpoints of each rank there are, and with which one new ranks begin. */
void rp_ft_find_checkpoints(struct rp_ft_attempt *a);

/* Sends new ranks their checkpoints, and new buddies what they are to keep. */
void rp_ft_transfer_checkpoints(struct rp_ft_attempt *a);

/* Takes on the rank, if this process is new. The attempt may fail yet. */
void rp_ft_begin_anew(const struct rp_ft_attempt *a);

/* Writes files that are missing, before the job ends or a process is started: what is in memory may
 * be gone then. All call it. */
void rp_ft_complete_files(struct rp_ft_attempt *a);

#endif

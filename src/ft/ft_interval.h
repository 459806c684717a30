/* SPDX-License-Identifier: MIT */
/* How often to take checkpoints, where the user says how often processes fail (--mtbf). */
#ifndef RP_FT_INTERVAL_H
#define RP_FT_INTERVAL_H

/* Reads the setting. */
void rp_ft_interval_start(void);

/* The loop begins with this iteration. */
void rp_ft_interval_begin(long iteration);

/* Before this iteration: chooses the interval, with all other ranks, once some were measured. */
void rp_ft_interval_update(long iteration);

#endif

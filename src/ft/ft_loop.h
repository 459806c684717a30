/* SPDX-License-Identifier: MIT */
/* The program's loop (REPRISE_LOOP in reprise.h). */
#ifndef RP_FT_LOOP_H
#define RP_FT_LOOP_H

#include <stdint.h>

/* Reads the settings. */
void rp_ft_loop_start(void);

/* All ranks roll back to this checkpoint, whose counters the channels have: goes back to the
 * beginning of the loop. Returns in a rank that repeats its setup. Ends the job if the program is
 * in no loop. */
void rp_ft_loop_roll_back(int64_t generation);

#endif

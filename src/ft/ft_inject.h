/* SPDX-License-Identifier: MIT */
/* Faults on purpose: the deaths that the user asked for (--kill). */
#ifndef RP_FT_INJECT_H
#define RP_FT_INJECT_H

#include <stdbool.h>

/* Reads the setting. Ends the job if it is wrong. */
void rp_ft_inject_start(void);

/* The program calls MPI. Returns whether there are faults at all. */
bool rp_ft_inject_call(void);

/* This process begins MPI_Init. `by_launcher`: the launcher started it, and set its rank. */
void rp_ft_inject_init(bool by_launcher);

/* This process is about to leave MPI_Init. */
void rp_ft_inject_leaves_init(void);

/* A recovery has reached this step: 1 begins it, 2 moves checkpoints, 3 is behind that, 4 is before
 * the agreement, 5 starts a new process. */
void rp_ft_inject_recovery(int step);

#endif

/* SPDX-License-Identifier: MIT */
/* A time limit for what may wait inside MPI for ever. There is one at a time. */
#ifndef RP_FT_WATCHDOG_H
#define RP_FT_WATCHDOG_H

/* Ends the job with the message "WHAT within SECONDS s: WHY" unless rp_ft_watchdog_stop is called
 * within that time. Both texts must stay. */
void rp_ft_watchdog_start(int seconds, const char *what, const char *why);

/* Stops it; does nothing if it does not run. */
void rp_ft_watchdog_stop(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Progress: what every waiting call of the program does. */
#ifndef RP_FT_PROGRESS_H
#define RP_FT_PROGRESS_H

/* Sets what recovers from a failure. It is called outside of coroutines, and may not return. */
void rp_ft_progress_start(void (*recover)(void));

/* Receives what has arrived, lets coroutines go on, and recovers if the world is broken. */
void rp_ft_progress(void);

/* Lets others get on: makes progress, or goes back to the coroutine's caller. */
void rp_ft_pause(void);

#define RP_FT_WAIT_UNTIL(condition)                                                                \
    do {                                                                                           \
        while (!(condition))                                                                       \
            rp_ft_pause();                                                                         \
    } while (0)

#endif

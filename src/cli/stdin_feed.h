/* SPDX-License-Identifier: MIT */
/* Gives our standard input to a launcher that may be started again: each launch reads it from its
 * beginning. */
#ifndef RP_STDIN_FEED_H
#define RP_STDIN_FEED_H

#include <stdbool.h>

/* Starts to keep the input. To be called once, before the first launch. */
void rp_stdin_start(void);

/* To be called before each launch, which then reads our standard input from its beginning. Returns
 * false if a part of the input is lost. */
bool rp_stdin_begin(void);

/* Says that no further launch will follow, so the input need not be kept any more. */
void rp_stdin_last(void);

#endif

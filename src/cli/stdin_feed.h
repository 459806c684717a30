/* SPDX-License-Identifier: MIT */
/* Our standard input, for a launcher that may be started again: what it read is given again. */
#ifndef RP_STDIN_FEED_H
#define RP_STDIN_FEED_H

#include <stdbool.h>

/* Once, before the first launch. */
void rp_stdin_start(void);

/* Before each launch: it reads our standard input from its beginning. False: some of it is gone. */
bool rp_stdin_begin(void);

/* No launch will follow: nothing is kept any more. */
void rp_stdin_last(void);

#endif

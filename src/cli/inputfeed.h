/* SPDX-License-Identifier: MIT */
/* Our standard input, for a launcher that may be started again: what it read is given again. */
#ifndef RP_INPUTFEED_H
#define RP_INPUTFEED_H

#include <stdbool.h>

/* Once, before the first launch. */
void rp_feed_start(void);

/* Before each launch: it reads our standard input from its beginning. False: some of it is gone. */
bool rp_feed_begin(void);

/* No launch will follow: nothing is kept any more. */
void rp_feed_last(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Recording the clocks of messages, where libreprise-piggyback.so (peers/peer_piggyback.h) stands
 * behind us. */
#ifndef RP_RECORD_CLOCKS_H
#define RP_RECORD_CLOCKS_H

#include <stdbool.h>

#include "base/status.h"
#include "entry/engine.h"

/* The engine that does what `plain` does, and records clocks as well. */
const struct rp_engine *rp_record_clocks_over(const struct rp_engine *plain);

bool rp_record_clocks_wanted(void);

/* From now on messages carry clocks, on every rank. Fails where the library is not there. */
enum rp_status rp_record_clocks_open(int rank, struct rp_problem *why);

#endif

/* SPDX-License-Identifier: MIT */
/* Partial replay: the rank records the events that it makes, and shows them to a debugger. */
#ifndef RP_RECORD_PARTIAL_H
#define RP_RECORD_PARTIAL_H

#include "engine/session.h"
#include "entry/engine.h"

/* The engine that does what `plain` does, but takes values from outside from the record, and shows
 * each event to the debugger. It is valid for ever; there is one. */
const struct rp_engine *rp_record_partial_over(const struct rp_engine *plain,
                                               const struct rp_session *session);

#endif

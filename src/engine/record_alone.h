/* SPDX-License-Identifier: MIT */
/* A rank that is replayed alone records the events that it makes, and shows them to a debugger. */
#ifndef RP_RECORD_ALONE_H
#define RP_RECORD_ALONE_H

#include "engine/session.h"
#include "entry/engine.h"

/* The engine that does what `plain` does, but gives values from outside as they were, and tells the
 * debugger of each event. */
const struct rp_engine *rp_record_alone_over(const struct rp_engine *plain,
                                             const struct rp_session *session);

#endif

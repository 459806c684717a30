/* SPDX-License-Identifier: MIT */
/* Polls that the record answers no, where one thread calls MPI. */
#ifndef RP_REPLAY_POLLS_H
#define RP_REPLAY_POLLS_H

#include <stdint.h>

#include "entry/engine.h"
#include "event/event.h"

/* The NO event of this poll among those at the front of the record, one of which must be there;
 * NULL: none has a poll left for it. */
const struct rp_event *rp_polls_find(const struct rp_call *call, uint32_t scope);

/* The poll that was found last is answered. */
void rp_polls_take(void);

/* An event whose polls the program has not all made, for a report. */
const struct rp_event *rp_polls_first_open(void);

#endif

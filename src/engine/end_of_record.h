/* SPDX-License-Identifier: MIT */
/* How a replay ends whose record does not end with MPI_Finalize: a rank (engine/rank.h) that is at
 * its end waits until no rank has anything left to replay. */
#ifndef RP_END_OF_RECORD_H
#define RP_END_OF_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "log/logreader.h"

/* Whether all events of all ranks were replayed; whether some rank is in this state (enum
 * rp_rank_state). */
bool rp_end_of_record_all_replayed(void);
bool rp_end_of_record_somebody_is(uint32_t which);

/* Says that nothing more was recorded of this rank after `event` events, in the MPI call
 * `function`, and what became of the rank in the recorded run. */
void rp_end_of_record_say(const struct rp_log_end *end, uint64_t event, const char *function);

/* Returns when no rank has anything left to replay, or none could move for long. `take_in` is
 * called again and again meanwhile; it may be NULL. */
void rp_end_of_record_wait(void (*take_in)(void));

/* Says whether the replay was identical: one rank does, where no command around the launcher says
 * it. */
void rp_end_of_record_say_verdict(void);

/* Says the verdict and ends the job for all. */
void rp_end_of_record_stop(void) __attribute__((noreturn));

/* The same for ranks that hang as they did in the recorded run, this one in the MPI call
 * `function`. For the thread that looks for it (engine/standstill.h). */
void rp_end_of_record_hangs(const struct rp_log_end *end, const char *function)
    __attribute__((noreturn));

#endif

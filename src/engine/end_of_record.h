/* SPDX-License-Identifier: MIT */
/* How a replay ends whose record does not end with MPI_Finalize: a rank that is at its end waits
 * until nobody has anything left to replay. */
#ifndef RP_END_OF_RECORD_H
#define RP_END_OF_RECORD_H

#include "log/logreader.h"
#include "log/replaystate.h"

/* Whether all events of all ranks were replayed; whether some rank is in this state. */
bool rp_end_of_record_all_replayed(const struct rp_replay_state *state);
bool rp_end_of_record_somebody_is(const struct rp_replay_state *state, uint32_t which);

/* Says that nothing more was recorded of this rank, and what became of it in the recorded run. */
void rp_end_of_record_say(const struct rp_log_end *end, uint64_t event, const char *function);

/* Returns when nobody has anything left to replay, or nobody could move for long (`stall` seconds).
 * `take_in` is called again and again meanwhile; it may be NULL. */
void rp_end_of_record_wait(const struct rp_replay_state *state, const struct rp_rank_slot *own,
                           long stall, void (*take_in)(void));

/* Whether the replay was identical: said by one rank, where no command around the launcher says
 * it. */
void rp_end_of_record_say_verdict(struct rp_replay_state *state, const char *directory);

/* Says the verdict and ends the job for all. */
void rp_end_of_record_stop(struct rp_replay_state *state, const char *directory)
    __attribute__((noreturn));

#endif

/* SPDX-License-Identifier: MIT */
/* The results of MPI calls, for partial replay: recording turns libreprise-partial.so on and off,
 * which does the rest. */
#ifndef RP_RECORD_DATA_H
#define RP_RECORD_DATA_H

#include "engine/session.h"

/* If this rank is of the set REPRISE_RANKS, the results of its MPI calls are to be recorded; in a
 * partial replay (REPRISE_SOLO) they are fed from the record. Fails if libreprise-partial.so is not
 * loaded, or cannot. */
enum rp_status rp_record_data_open(const struct rp_session *session, struct rp_problem *why);

/* From now on. */
void rp_record_data_go(void);

/* The rank is about to end. In a partial replay, other threads first make what they made until
 * then.
 */
void rp_record_data_end(void);

/* Before anything is done that is not the program's own. Returns the bytes written. */
uint64_t rp_record_data_close(void);

/* In a partial replay: the recorded rank left a call by an error handler, so the replay ends there.
 */
bool rp_record_data_was_left(void);

/* A value from outside MPI: records it, or replaces it by the recorded one. Returns false if the
 * record ended meanwhile. */
bool rp_record_data_value(int32_t *a, uint64_t *c);

/* Several threads may call MPI from now on. May end the job. */
void rp_record_data_threads(void);

/* Several threads, under their lock; all do nothing without data (peers/peer_partial.h). Around a
 * turn of this function. In a partial replay, the first waits for it. */
void rp_record_data_turn_begin(const char *function);
void rp_record_data_turn_end(void);
void rp_record_data_value_taken(void);
/* In a partial replay: waits for the turn of a call of MPI. */
void rp_record_data_await(const char *function);
/* The same for a poll; false: it is to be answered no, and no turn. */
bool rp_record_data_answers(const char *function);
/* Whether the data of a rank with several threads is recorded or fed. */
bool rp_record_data_has_threads(void);
/* Around a question of our own, which a partial replay asks, too. */
void rp_record_data_asks(bool begins);
/* Around each poll of a call that waits. */
void rp_record_data_waits(bool begins);

#endif

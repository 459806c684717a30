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

/* Before anything is done that is not the program's own. Returns the bytes written. */
uint64_t rp_record_data_close(void);

/* A value from outside MPI: records it, or replaces it by the recorded one. */
void rp_record_data_value(int32_t *a, uint64_t *c);

/* Several threads may call MPI from now on. If only reprise itself asked for the data of this rank,
 * and it has no window yet, its data is dropped; otherwise this does not return. */
void rp_record_data_threads(void);

#endif

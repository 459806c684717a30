/* SPDX-License-Identifier: MIT */
#ifndef RP_RECORD_START_H
#define RP_RECORD_START_H

#include "engine/session.h"

/* Rank 0: makes the directory of a new record and its description; sets `run` and `directory`. */
enum rp_status rp_record_found(struct rp_session *session, struct rp_problem *why);

#endif

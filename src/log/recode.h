/* SPDX-License-Identifier: MIT */
/* The log of a rank, written again with another codec. */
#ifndef RP_RECODE_H
#define RP_RECODE_H

#include "log/logreader.h"
#include "log/logwriter.h"

/* Writes what `log` holds, which must be events, into a new log of the same rank in `directory`; as
 * rows if `rows` is not NULL. One that has no end is given none, but a ring. */
enum rp_status rp_log_recode(struct rp_log *log, const char *directory,
                             const struct rp_codec *codec, const struct rp_row_codec *rows,
                             struct rp_problem *why);

#endif

/* SPDX-License-Identifier: MIT */
/* The log of a rank, written again with another codec. */
#ifndef RP_RECODE_H
#define RP_RECODE_H

#include "log/logreader.h"
#include "log/logwriter.h"

/* Writes what `log` holds into a new log of the same rank in `directory`. One that has no end is given none, but an empty ring. */
enum rp_status rp_log_recode(struct rp_log *log, const char *directory, const struct rp_codec *codec, struct rp_problem *why);

#endif

/* SPDX-License-Identifier: MIT */
/* Writes the log of a rank again with another codec. */
#ifndef RP_RECODE_H
#define RP_RECODE_H

#include "log/logreader.h"
#include "log/logwriter.h"

/* Writes the events of `log`, which must hold events, into a new log of the same rank in
 * `directory`, with `codec`; as rows if `rows` is not NULL. If `log` has no end, the new log gets
 * none either, but a ring. */
enum rp_status rp_log_recode(struct rp_log *log, const char *directory,
                             const struct rp_codec *codec, const struct rp_row_codec *rows,
                             struct rp_problem *why);

#endif

/* SPDX-License-Identifier: MIT */
/* The rows of a log, for reprise dump. */
#ifndef RP_DUMPROWS_H
#define RP_DUMPROWS_H

#include "log/logreader.h"

/* One a line; of codec cdc, which has no messages, the parts of its tables. */
enum rp_status rp_dump_rows(struct rp_log *log, uint32_t rank, bool json, struct rp_problem *why);

#endif

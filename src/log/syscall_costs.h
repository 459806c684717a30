/* SPDX-License-Identifier: MIT */
/*
 * What system calls take of logical time, in ticks, of which an instruction takes about one: a text
 * file of lines `NAME TICKS` after the line `reprise costs 1`. Runs with the same costs are the
 * same on all machines; costs of the machine they run on make them faster.
 */
#ifndef RP_SYSCALL_COSTS_H
#define RP_SYSCALL_COSTS_H

#include <stdint.h>

#include "base/status.h"

struct rp_syscall_costs {
    uint64_t microsecond; /* of sleeping, or waiting for a file descriptor until a time-out */
    uint64_t read, read_kib, write, write_kib; /* a call; 1024 bytes */
    uint64_t sync;
};

/* The usual ones, which are the same everywhere. */
extern const struct rp_syscall_costs rp_syscall_costs_usual;

/* What the file does not name is as usual. */
enum rp_status rp_syscall_costs_read(const char *path, struct rp_syscall_costs *costs,
                                     struct rp_problem *why);
enum rp_status rp_syscall_costs_write(const char *path, const struct rp_syscall_costs *costs,
                                      struct rp_problem *why);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * The costs of system calls: what each adds to logical time, in ticks (an instruction takes about
 * one). They are in a text file of lines `NAME TICKS` after the line `reprise costs 1`. Runs with
 * the same costs are the same on all machines; costs measured on the machine make runs faster
 * there.
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

/* The default costs, which are the same on every machine. */
extern const struct rp_syscall_costs rp_syscall_costs_usual;

/* rp_syscall_costs_read reads the file; a cost that it does not name gets its default.
 * rp_syscall_costs_write writes all costs. */
enum rp_status rp_syscall_costs_read(const char *path, struct rp_syscall_costs *costs,
                                     struct rp_problem *why);
enum rp_status rp_syscall_costs_write(const char *path, const struct rp_syscall_costs *costs,
                                      struct rp_problem *why);

#endif

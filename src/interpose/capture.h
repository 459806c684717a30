/* SPDX-License-Identifier: MIT */
/*
 * Values from outside (REPRISE_CAPTURE): what clocks, random devices and the system tell the
 * program is recorded, and told again in a replay. Values that the program asks for before it
 * initialises MPI are kept until then; a replay finds its rank by what the launcher says.
 */
#ifndef RP_CAPTURE_H
#define RP_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/captured.h"

/* The values from before MPI_Init, one after another; false: there is no more. */
struct rp_early_value {
    const char *function;
    uintptr_t return_address;
    int32_t a;
    uint64_t c;
};
int rp_capture_early(size_t index, struct rp_early_value *out);
void rp_capture_add_early(const char *function, uintptr_t return_address, int32_t a, uint64_t c);

/* Values before MPI_Init that this replay has told. */
uint64_t rp_capture_early_told(void);

/* The id of its process that a replay told the program, or 0. */
extern pid_t rp_capture_told_pid;

/* Whether process ids that the program knows may be those of the record. */
bool rp_capture_has_old_pids(void);

#endif

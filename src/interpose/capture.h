/* SPDX-License-Identifier: MIT */
/*
 * Captured values (REPRISE_CAPTURE): what clocks, random devices and the system return to the
 * program is recorded, and returned again in a replay. Values that the program asks for before it
 * initialises MPI are kept until then. A replay learns its rank from the launcher's environment.
 */
#ifndef RP_CAPTURE_H
#define RP_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "entry/captured.h"

/* The values from before MPI_Init: captured ones in a recording, those of the record in a replay.
 * rp_capture_early sets *out to value number `index`, and returns 0 if there is none.
 * rp_capture_add_early adds a value. */
struct rp_early_value {
    const char *function;
    uintptr_t return_address;
    int32_t a;
    uint64_t c;
};
int rp_capture_early(size_t index, struct rp_early_value *out);
void rp_capture_add_early(const char *function, uintptr_t return_address, int32_t a, uint64_t c);

/* Returns how many values from before MPI_Init this replay has returned to the program. */
uint64_t rp_capture_early_told(void);

/* The process ids that a replay returned to the program as its own and as its parent's, or 0. */
extern pid_t rp_capture_told_pid, rp_capture_told_parent;

/* Returns whether process ids that the program knows may be those of the record. */
bool rp_capture_has_old_pids(void);

#endif

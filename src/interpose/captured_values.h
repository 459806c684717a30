/* SPDX-License-Identifier: MIT */
/*
 * For the functions that interpose those of the C library (capture_time.c, capture_random.c,
 * capture_host.c). Each asks the engine first, which has the value in a replay. Otherwise the real
 * function is called, and the engine gets its value.
 *
 * A value is an int and 64 bits. Of a clock, it holds the difference to the previous value of the
 * same clock; bytes take as many values as they need. Only calls by the program itself count, in
 * threads that are followed.
 */
#ifndef RP_CAPTURED_VALUES_H
#define RP_CAPTURED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"
#include "entry/entry.h"
#include "interpose/capture.h"

/* Returns whether a call that returns to `place` is the program's, and values of this kind (enum
 * rp_capture) are captured. */
bool rp_capture_is_ours(int kind, uintptr_t place);

/* The calling thread is inside omp_get_wtime: its calls of clocks count there. */
extern RP_HIDDEN __thread bool rp_in_omp_get_wtime;

/* Replay: returns whether the record has the value, and if so sets it. */
bool rp_recalled(const struct rp_call *call, int32_t *a, uint64_t *c);
/* Recording: takes the value of the real function. */
void rp_noted(const struct rp_call *call, int32_t a, uint64_t c);

/* Do the same for a number that grows; *last is the previous value of the same clock. */
bool rp_recalled_clock(const struct rp_call *call, uint64_t *last, uint64_t *value);
void rp_noted_clock(const struct rp_call *call, uint64_t *last, uint64_t value);

/* Do the same for bytes and the function's result. At most `room` bytes are set. */
bool rp_recalled_bytes(const struct rp_call *call, void *buffer, size_t room, int32_t *result);
void rp_noted_bytes(const struct rp_call *call, const void *buffer, size_t size, int32_t result);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * For the functions that stand in for those of the C library (capture_time.c, capture_random.c,
 * capture_host.c). Each asks the engine first: a replay has the value. Else the real function is
 * called, and the engine gets the value.
 *
 * A value is an int and 64 bits; of a clock they are the difference to what the same clock said
 * before, of bytes there are as many values as it takes. Only calls by the program itself count,
 * and only by threads that are followed.
 */
#ifndef RP_CAPTURED_VALUES_H
#define RP_CAPTURED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/visibility.h"
#include "entry/entry.h"
#include "interpose/capture.h"

/* Whether a call counts that returns to `place`, and values of this kind (enum rp_capture) are
 * captured. */
bool rp_capture_is_ours(int kind, uintptr_t place);

/* The calling thread is inside omp_get_wtime: what it asks for there counts. */
extern RP_HIDDEN __thread bool rp_in_omp_get_wtime;

/* Replay: returns whether the record has the value, and if so sets it. */
bool rp_recalled(const struct rp_call *call, int32_t *a, uint64_t *c);
/* Recording: takes the value of the real function. */
void rp_noted(const struct rp_call *call, int32_t a, uint64_t c);

/* The same of a number that grows; *last is what the same clock said before. */
bool rp_recalled_clock(const struct rp_call *call, uint64_t *last, uint64_t *value);
void rp_noted_clock(const struct rp_call *call, uint64_t *last, uint64_t value);

/* The same of bytes, and of what the function returns. At most `room` bytes are set. */
bool rp_recalled_bytes(const struct rp_call *call, void *buffer, size_t room, int32_t *result);
void rp_noted_bytes(const struct rp_call *call, const void *buffer, size_t size, int32_t result);

#endif

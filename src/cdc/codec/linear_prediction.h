/* SPDX-License-Identifier: MIT */
/*
 * Linear predictive encoding (Clock Delta Compression, section 3.4). A value is predicted to lie on
 * the line through the two values before it. What is stored is the error e[n] = x[n] - 2 x[n-1] +
 * x[n-2], with x = 0 before the first. Arithmetic is modulo 2^64, so that any values can be
 * decoded.
 */
#ifndef RP_LINEAR_PREDICTION_H
#define RP_LINEAR_PREDICTION_H

#include <stdint.h>

struct rp_linear {
    uint64_t last, before; /* x[n-1], x[n-2]; begins as zeros */
};

/* Returns the prediction of the next value. */
static inline uint64_t rp_linear_predict(const struct rp_linear *linear)
{
    return 2 * linear->last - linear->before;
}

/* Moves on by one value. */
static inline void rp_linear_step(struct rp_linear *linear, uint64_t value)
{
    linear->before = linear->last;
    linear->last = value;
}

/* Returns the prediction error of the next value. */
static inline int64_t rp_linear_encode(struct rp_linear *linear, uint64_t value)
{
    uint64_t error = value - rp_linear_predict(linear);

    rp_linear_step(linear, value);
    return (int64_t)error;
}

/* Returns the next value from its prediction error. */
static inline uint64_t rp_linear_decode(struct rp_linear *linear, int64_t error)
{
    uint64_t value = rp_linear_predict(linear) + (uint64_t)error;

    rp_linear_step(linear, value);
    return value;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * OpenSHMEM inside libreprise-partial.so. Each call goes through one of the pairs below: the first
 * says whether the real call is to be made (recording), or gives what was recorded (feeding); the
 * second is told that it was made.
 *
 * Which changes pass at which calls is said in docs/model.md.
 */
#ifndef RP_SIDES_H
#define RP_SIDES_H

#include "partial/partial.h"
#include "shmem/symmetric.h"
#include "shmem_next.h"

#include "shmem_hand.h"

/* OpenSHMEM was started in a PE that is recorded or fed. */
extern RP_HIDDEN bool rp_shmem_on;
extern RP_HIDDEN int rp_shmem_me, rp_shmem_pes;

/* A call that is not looked at: inside another one. Does not return if it is of another thread. */
bool rp_shmem_passes(const char *name);

/* What a context is known by: NULL for the default one. */
const void *rp_shmem_context(shmem_ctx_t ctx);

/* A check of the updates since the last entry, and of this call's numbers. */
uint32_t rp_shmem_check(uint32_t numbers);

/* Writes into memory of a PE: `count` elements, `stride` elements from each other. */
bool rp_shmem_update(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                     size_t count, int pe);
void rp_shmem_updated(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                      size_t count, int pe);

/* Returns what is, or was, in memory of a PE. */
bool rp_shmem_fetch(const struct rp_function *f, const void *at, size_t size, int pe, void *result,
                    size_t result_size);
void rp_shmem_fetched(const struct rp_function *f, const void *at, size_t size, int pe,
                      const void *result, size_t result_size);

/* Where a read puts what it finds. */
struct rp_shmem_read {
    void *to;
    size_t size;
    ptrdiff_t stride;
    size_t count;
    const void *context;
    struct rp_shmem_read *next;
};
bool rp_shmem_get(const struct rp_function *f, const struct rp_shmem_read *read, const void *from,
                  ptrdiff_t stride, int pe);
void rp_shmem_get_end(const struct rp_function *f, const struct rp_shmem_read *read,
                      const void *from, ptrdiff_t stride, int pe);
bool rp_shmem_get_nbi(const struct rp_function *f, const struct rp_shmem_read *read,
                      const void *from, ptrdiff_t stride, int pe);
void rp_shmem_get_nbi_end(const struct rp_function *f, const struct rp_shmem_read *read,
                          const void *from, ptrdiff_t stride, int pe);

/* Fences and the like. `completes`: the reads of this context. */
bool rp_shmem_order(const struct rp_function *f, uint32_t numbers, bool completes,
                    const void *context);
void rp_shmem_ordered(const struct rp_function *f, uint32_t numbers, bool completes,
                      const void *context);

/* Calls that return when others have come, or have done something. */
bool rp_shmem_meet(const struct rp_function *f, uint32_t numbers, bool completes);
void rp_shmem_met(const struct rp_function *f, uint32_t numbers, bool completes);

/* `yes`: others have done it. */
bool rp_shmem_test(const struct rp_function *f, uint32_t numbers, int *result);
void rp_shmem_tested(const struct rp_function *f, uint32_t numbers, int result, bool yes);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * OpenSHMEM inside libreprise-partial.so. Each call goes through one of the pairs of functions
 * below. The first one is called before the real call. Recording, it returns true: the real call is
 * to be made. Feeding, it puts the recorded results in place and returns false. The second one is
 * called after the real call, and writes its results.
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

/* Returns whether a call is neither recorded nor fed, since it is inside another one. Does not
 * return if another thread makes the call. */
bool rp_shmem_passes(const char *name);

/* Returns the pointer by which a context is known: NULL for the default context. */
const void *rp_shmem_context(shmem_ctx_t ctx);

/* Returns a check of the updates since the last entry and of `numbers`, the check of this call's
 * arguments. */
uint32_t rp_shmem_check(uint32_t numbers);

/* Calls that write into memory of PE `pe`: `count` elements of `size` bytes, `stride` elements from
 * each other. */
bool rp_shmem_update(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                     size_t count, int pe);
void rp_shmem_updated(const struct rp_function *f, const void *at, size_t size, ptrdiff_t stride,
                      size_t count, int pe);

/* Calls that return what is, or was, in memory of PE `pe`, as `result`. */
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

/* Calls that return when others have arrived, or have done something. */
bool rp_shmem_meet(const struct rp_function *f, uint32_t numbers, bool completes);
void rp_shmem_met(const struct rp_function *f, uint32_t numbers, bool completes);

/* Calls that test whether others have done something; `yes` says that they have. */
bool rp_shmem_test(const struct rp_function *f, uint32_t numbers, int *result);
void rp_shmem_tested(const struct rp_function *f, uint32_t numbers, int result, bool yes);

#endif

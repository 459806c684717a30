/* SPDX-License-Identifier: MIT */
/*
 * Memory of this PE that other PEs reach: blocks of the symmetric heap, and the program's own
 * static data. In a PE that is recorded, what others reach (public) is not what the program works
 * on (window/shadow.h): changes pass between the two at calls that the PE makes, and nowhere else,
 * and what came in is written down, by an entry `symmetric` before that of the call.
 *
 * The program has the addresses that it would have without us; the library knows the same memory
 * elsewhere.
 */
#ifndef RP_SYMMETRIC_H
#define RP_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rp_symmetric_range {
    uintptr_t from, to; /* addresses of the program */
    intptr_t shift;     /* to those of the library */
};
extern struct rp_symmetric_range rp_symmetric_heap, rp_symmetric_data;

/* Returns the address by which the library knows the program's address `own`; an address that is
 * not symmetric is returned as it is. */
static inline void *rp_symmetric_public(const volatile void *own)
{
    uintptr_t at = (uintptr_t)own;

    if (at - rp_symmetric_heap.from < rp_symmetric_heap.to - rp_symmetric_heap.from)
        at += (uintptr_t)rp_symmetric_heap.shift;
    else if (at - rp_symmetric_data.from < rp_symmetric_data.to - rp_symmetric_data.from)
        at += (uintptr_t)rp_symmetric_data.shift;
    return (void *)at;
}

/* Returns the program's address of the library's address `public`. */
void *rp_symmetric_own(void *public);

/* Returns a number for an address of the program that is the same when the PE is fed. */
int64_t rp_symmetric_number(const volatile void *own);

/* Adds and removes a block. `shadow`, which is taken over, is what the program and the other PEs
 * have in common there; NULL: zeros, which the program's memory becomes, too. Feeding, a block is
 * memory alone. */
void rp_symmetric_add(void *own, size_t size, uint8_t *shadow);
void rp_symmetric_remove(void *own);
size_t rp_symmetric_size(void *own); /* of the block; 0: there is none */

/* Recording: rp_symmetric_out makes the program's stores public, rp_symmetric_in copies what others
 * stored to the program. Both do so in ALL blocks, or in the FEW smallest (such as flags and
 * counters), which together are small enough for a look at every call. */
enum rp_look { RP_LOOK_FEW, RP_LOOK_ALL };
void rp_symmetric_out(enum rp_look look);
void rp_symmetric_in(enum rp_look look);

/* Both do the same in `length` bytes at `own`, a range of one block. */
void rp_symmetric_range_out(const void *own, size_t length);
void rp_symmetric_range_in(const void *own, size_t length);

/* Recording, inside an entry: writes what the other PEs have in a new block. */
void rp_symmetric_put(void *own);

/* Feeding: reads what an entry `symmetric`, or rp_symmetric_put(), wrote, and puts it in place. */
void rp_symmetric_take(void);

#endif

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

/* The same place as the library knows it; what is not symmetric stays as it is. */
static inline void *rp_symmetric_public(const volatile void *own)
{
    uintptr_t at = (uintptr_t)own;

    if (at - rp_symmetric_heap.from < rp_symmetric_heap.to - rp_symmetric_heap.from)
        at += (uintptr_t)rp_symmetric_heap.shift;
    else if (at - rp_symmetric_data.from < rp_symmetric_data.to - rp_symmetric_data.from)
        at += (uintptr_t)rp_symmetric_data.shift;
    return (void *)at;
}

/* The other way round. */
void *rp_symmetric_own(void *public);

/* A place as a number that is the same when the PE is fed. */
int64_t rp_symmetric_number(const volatile void *own);

/* A block comes or goes. `shadow`, which is taken over, is what the program and the others have in
 * common there; NULL: zeros, which the program gets. Feeding, only the memory is there. */
void rp_symmetric_add(void *own, size_t size, uint8_t *shadow);
void rp_symmetric_remove(void *own);
size_t rp_symmetric_size(void *own); /* of the block; 0: there is none */

/* Recording. ALL blocks, or the FEW smallest, of so many bytes together that every call can look at
 * them: flags and counters are such. */
enum rp_look { RP_LOOK_FEW, RP_LOOK_ALL };
void rp_symmetric_out(enum rp_look look);
void rp_symmetric_in(enum rp_look look);

/* The same for a range of one block. */
void rp_symmetric_range_out(const void *own, size_t length);
void rp_symmetric_range_in(const void *own, size_t length);

/* Inside an entry: what others have in a new block. */
void rp_symmetric_put(void *own);

/* Feeding: takes what an entry `symmetric` tells, or rp_symmetric_put() told. */
void rp_symmetric_take(void);

#endif

/* SPDX-License-Identifier: MIT */
/* Letters that are under way, found by the request that stands for them. */
#ifndef RP_UNDER_WAY_H
#define RP_UNDER_WAY_H

#include <mpi.h>

#include "envelope/letter.h"

extern unsigned rp_letters_under_way; /* letters that have a request */
extern unsigned rp_letters_freed;     /* letters whose request the program freed */

/* The request stands for the letter from now on. */
void rp_under_way_add(MPI_Request request, struct rp_letter *letter);

/* The letter of a request, NULL if it has none. */
struct rp_letter *rp_under_way_find(MPI_Request request);

/* The request is gone, and the letter with it. */
void rp_under_way_remove(struct rp_letter *letter);

/* The program freed the request while it was active: we keep it, since the letter is needed until
 * it is complete. */
void rp_under_way_keep_freed(struct rp_letter *letter);

/* Looks after those kept: what they received is the program's. To be called wherever MPI may get
 * on. */
void rp_under_way_settle_freed(void);

static inline void rp_under_way_poll_freed(void)
{
    if (__builtin_expect(rp_letters_freed > 0, 0))
        rp_under_way_settle_freed();
}

#endif

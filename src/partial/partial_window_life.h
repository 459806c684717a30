/* SPDX-License-Identifier: MIT */
/* The calls that make and free windows. */
#ifndef RP_PARTIAL_WINDOW_LIFE_H
#define RP_PARTIAL_WINDOW_LIFE_H

#include "partial/partial_windows.h"

/* The call of a function that makes a window. make(next, m, base, win) calls MPI's. */
struct rp_making {
    const struct rp_function *function;
    int (*make)(const struct rp_next *next, const struct rp_making *m, void *base, MPI_Win *win);
    MPI_Aint size, unit;
    MPI_Info info;
    MPI_Comm comm;
};

/* What the entries of these functions do, those of large counts among them. `base` is the memory of
 * MPI_Win_create; elsewhere its address goes there. */
int rp_partial_record_Win_create(const struct rp_next *next, const struct rp_making *m, void *base,
                                 MPI_Win *win);
int rp_partial_feed_Win_create(const struct rp_making *m, void *base, MPI_Win *win);
int rp_partial_record_Win_allocate(const struct rp_next *next, const struct rp_making *m,
                                   void *base, MPI_Win *win);
int rp_partial_feed_Win_allocate(const struct rp_making *m, void *base, MPI_Win *win);
int rp_partial_record_Win_allocate_shared(const struct rp_next *next, const struct rp_making *m,
                                          void *base, MPI_Win *win);
int rp_partial_feed_Win_allocate_shared(const struct rp_making *m, void *base, MPI_Win *win);

/* Recording: what MPI says of the memory of a shared window becomes what the program is to see. */
void rp_window_shift(MPI_Win win, void *base);
/* Feeding: the memory of one member of a shared window. Returns false if `win` is none. */
bool rp_window_member(MPI_Win win, int rank, struct rp_member *out);

/* Recording: notes that the program calls a function that makes a window. From then on the rank can
 * only be replayed by a partial replay, even if the call fails or never returns. */
void rp_window_expect(void);

/* Add a new window. Recording, MPI has made it. Feeding, rp_window_stand_in makes a window of this
 * process in its place and sets *made; the entry of the call is then still open, unless the call
 * failed in the record. */
struct rp_window *rp_window_record(MPI_Win win, MPI_Comm comm, MPI_Aint unit);
int rp_window_stand_in(const struct rp_function *function, MPI_Aint size, MPI_Comm comm,
                       MPI_Win *win, struct rp_window **made);

#endif

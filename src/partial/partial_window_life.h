/* SPDX-License-Identifier: MIT */
/* The calls that make and free windows. */
#ifndef RP_PARTIAL_WINDOW_LIFE_H
#define RP_PARTIAL_WINDOW_LIFE_H

#include "partial/partial_windows.h"

/* Recording: notes that the program calls a function that makes a window. From then on the rank can
 * only be replayed by a partial replay, even if the call fails or never returns. */
void rp_window_expect(void);

/* Add a new window. Recording, MPI has made it. Feeding, rp_window_stand_in makes a window of this
 * process in its place and sets *made; the entry of the call is then still open, unless the call
 * failed in the record. */
struct rp_window *rp_window_record(MPI_Win win, MPI_Comm comm, int disp_unit);
int rp_window_stand_in(const struct rp_function *function, MPI_Aint size, MPI_Comm comm,
                       MPI_Win *win, struct rp_window **made);

#endif

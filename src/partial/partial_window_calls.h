/* SPDX-License-Identifier: MIT */
/* Windows come and go. */
#ifndef RP_PARTIAL_WINDOW_CALLS_H
#define RP_PARTIAL_WINDOW_CALLS_H

#include "partial/partial_windows.h"

/* Recording: the program calls a function that makes a window. The rank is replayed alone from
 * then on, whether the call succeeds, fails or never returns. */
void rp_window_expect(void);

/* A new window. Recording, MPI has made it; feeding, one of this process stands for it: `made` is
 * set, and the entry of the call still open, unless that failed in the record. */
struct rp_window *rp_window_record(MPI_Win win, MPI_Comm comm, int disp_unit);
int rp_window_stand_in(const struct rp_function *function, MPI_Aint size, MPI_Comm comm,
                       MPI_Win *win, struct rp_window **made);

#endif

/* SPDX-License-Identifier: MIT */
/* Recovery from failures, and the end of the program. */
#ifndef RP_FT_RECOVER_H
#define RP_FT_RECOVER_H

#include <setjmp.h>

#include "ft/ft_mpi.h"

/* Where a rank goes back to when all ranks are in MPI_Finalize: set there. */
extern jmp_buf rp_ft_finalize_point;

/* Recovers. Returns when the program can go on; or goes back to the beginning of the loop, if all
 * ranks roll back, or to rp_ft_finalize_point. A spare may have a rank then, or rp_ft.ended is set.
 */
void rp_ft_recover(void);

/* The same, in a new process, in the communicator of a recovery that goes on. */
void rp_ft_recover_in(MPI_Comm world);

/* Waits in a spare: returns when this process has a rank, or rp_ft.ended is set. */
void rp_ft_spare(void);

#endif

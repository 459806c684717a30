/* SPDX-License-Identifier: MIT */
/*
 * Who this process is, and where it is in its program. All parts of libreprise-ft.so read this.
 *
 * *Ranks* are those of the program's MPI_COMM_WORLD. A *process* is a rank of `world`, the one real
 * communicator, which holds all ranks and spares. A recovery makes a new one.
 */
#ifndef RP_FT_STATE_H
#define RP_FT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ft/ft_mpi.h"
#include "ft_entries.h"

struct rp_ft_state {
    bool on;                /* from MPI_Init, or the first session, to the end */
    int rank, ranks;        /* of the program; rank is -1 in a spare */
    int spares;             /* at the start */
    int respawned;          /* processes that were started later */
    MPI_Comm world;         /* of processes */
    int *process_of;        /* ranks -> ranks in `world` */
    unsigned epoch;         /* how many worlds there were before */
    unsigned recoveries;    /* the end of the program is one, too */
    bool broken;            /* a call reported a failure: the next progress recovers */
    bool in_setup;          /* before the first iteration */
    bool repeats_setup;     /* this process took over a rank, and runs through its setup again */
    bool finished;          /* in MPI_Finalize */
    bool ended;             /* all ranks have finished */
    bool is_replacement;    /* was a spare */
    bool has_work;          /* at the next MPI call of the program there is something to do */
    long iteration;         /* -1 before the first */
    long calls;             /* of MPI, in this iteration */
    long iterations;        /* begun by this process */
    size_t active_requests; /* that the program started and did not complete */
    const char *call;       /* the MPI call that we are in */
};
extern struct rp_ft_state rp_ft;

/* Makes `world` the real communicator; process_of[rank] is the process that has `rank`. Copies the
 * list. */
void rp_ft_set_world(MPI_Comm world, const int *process_of);

/* Returns the seconds of a clock that never goes back. */
double rp_ft_now(void);

#endif

/* SPDX-License-Identifier: MIT */
// ranks: 2
// natively: 60
// timeout: 60
// about: two ranks load from and store to one place of a shared window, as fast as they can;
//     TRACK_LOADS says how often (20000000: the long form). Every value that is seen goes into the
//     hash.
#include "check.h"

int main(int argc, char **argv)
{
    const char *wanted = getenv("TRACK_LOADS");
    long loads = wanted ? atol(wanted) : 400000, others = 0;
    volatile long *place;
    MPI_Aint size;
    MPI_Win win;
    int unit;

    check_start(&argc, &argv);
    MPI_Win_allocate_shared(check.rank == 0 ? sizeof *place : 0, sizeof *place, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &place, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &place);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 0; i < loads || (others == 0 && i < 1000 * loads);
         i++) { /* the other may get no processor for a while */
        long seen = *place;
        others += seen % 2 != check.rank;
        check_note(seen);
        if (i % 8 == 0)
            *place = seen / 2 * 2 + 2 + check.rank;
        if (i % 16384 == 0)
            sched_yield();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    CHECK(others > 0, "rank %d never saw a store of the other", check.rank);
    if (check.rank > 0)
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
    fflush(stdout);
    return check_end();
}

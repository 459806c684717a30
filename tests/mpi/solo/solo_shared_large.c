/* SPDX-License-Identifier: MIT */
// ranks: 3
// natively: 60
// record: --allow MPI_Win_allocate_shared_c
// about: shared windows that are made and asked about by the functions of large counts
#include "check.h"

#if MPI_VERSION >= 4

int main(int argc, char **argv)
{
    long *mine, *all, token = 0;
    MPI_Aint size, unit;
    int plain_unit, words;
    void *plain;
    MPI_Win win;

    check_start(&argc, &argv);
    words = check.rank == 1 ? 0 : 40 + check.rank;
    MPI_Win_allocate_shared_c(words * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL,
                              MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query_c(win, MPI_PROC_NULL, &size, &unit, &all);
    CHECK(size == 40 * sizeof *mine && unit == sizeof *mine, "%ld bytes of units of %ld",
          (long)size, (long)unit);
    MPI_Win_shared_query(win, 0, &size, &plain_unit, &plain);
    CHECK(plain == all && plain_unit == unit, "the two forms differ");
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < words; i++)
        mine[i] = i;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 20; round++) { // who is first is a race
        MPI_Fetch_and_op(&(long){1}, &token, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        all[1 + token % 30] = 100 * check.rank + round;
        check_note(token);
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 40; i++)
            check_note(all[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif

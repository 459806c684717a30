/* SPDX-License-Identifier: MIT */
// ranks: 3
// record: --allow MPI_Win_allocate_shared
// about: shared windows: loads and stores of others' parts between barriers, fences, messages and
//     MPI_Win_sync; parts of different sizes
#include "check.h"

int main(int argc, char **argv)
{
    long *mine, *all, token = 0;
    MPI_Comm host;
    MPI_Win win;
    MPI_Aint size;
    int unit, words, members, place;

    check_start(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &members);
    MPI_Comm_rank(host, &place);
    words = place == 1 ? 0 : 600 + place;
    MPI_Win_allocate_shared(words * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, host,
                            &mine, &win);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &all);
    CHECK(size == 600 * sizeof *mine && unit == sizeof *mine, "%ld bytes of units of %d",
          (long)size, unit);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < words; i++)
        mine[i] = i;
    MPI_Win_sync(win);
    MPI_Barrier(host);
    for (int round = 0; round < 20; round++) { // who is first stores his number, one after another
        if (round < 2)
            check_pace(place);
        MPI_Fetch_and_op(&(long){1}, &token, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        all[1 + token % 500] = 100 * place + round;
        check_note(token);
        MPI_Win_sync(win);
        MPI_Barrier(host);
        for (int i = 0; i < 500; i++)
            check_note(all[i]);
        MPI_Barrier(host);
    }
    if (place == 0)
        all[7] = 77;
    MPI_Win_sync(win);
    MPI_Bcast(&token, 1, MPI_LONG, 0, host);
    CHECK(all[7] == 77, "a store is not seen: %ld", all[7]);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&host);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}

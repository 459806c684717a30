/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// refuses: MPI_Win_create
// det: refused
// record: --ranks none
// about: one-sided communication
#include "../check.h"

int main(int argc, char **argv)
{
    long *shared = malloc(sizeof *shared), *got = malloc(sizeof *got);
    MPI_Win window;

    check_start(&argc, &argv);
    *shared = check.rank;
    *got = -1;
    MPI_Win_create(shared, sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Get(got, 1, MPI_LONG, (check.rank + 1) % check.size, 0, 1, MPI_LONG, window);
    MPI_Win_fence(0, window);
    CHECK(*got == (check.rank + 1) % check.size, "got %ld", *got);
    check_note(*got);
    MPI_Win_free(&window);
    free(shared);
    free(got);
    return check_end();
}

/* SPDX-License-Identifier: MIT */
// ranks: 3
// det: sleep counts
// about: the tool information interface: MPI_T_init_thread makes Open MPI open all its components,
//     whose drivers sleep and wait; then receives from any rank
#include "../check.h"

int main(int argc, char **argv)
{
    int provided, variables = -1, value;
    MPI_Status status;

    check_start(&argc, &argv);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "MPI_T_init_thread");
    CHECK(MPI_T_cvar_get_num(&variables) == MPI_SUCCESS && variables > 0, "%d variables",
          variables);
    for (int round = 0; round < 4; round++) {
        for (int i = 1; i < check.size; i++)
            MPI_Send(&check.rank, 1, MPI_INT, (check.rank + i) % check.size, 1, MPI_COMM_WORLD);
        for (int i = 1; i < check.size; i++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            CHECK(value == status.MPI_SOURCE, "%d from %d", value, status.MPI_SOURCE);
            check_note(value);
        }
    }
    MPI_T_finalize();
    return check_end();
}

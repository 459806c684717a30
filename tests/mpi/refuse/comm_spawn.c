/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// refuses: MPI_Comm_spawn
// det: refused
// about: a program that spawns another process, which is itself
#include "../check.h"

int main(int argc, char **argv)
{
    long value = -1;
    MPI_Comm parent, child;

    check_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        value = 42;
        MPI_Send(&value, 1, MPI_LONG, 0, 1, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                       MPI_ERRCODES_IGNORE))
        return check_skip(); // MPICH 4.0 as Debian 12 builds it cannot spawn
    if (check.rank == 0)
        MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, 1, child, MPI_STATUS_IGNORE);
    CHECK(check.rank != 0 || value == 42, "value %ld", value);
    check_note(value);
    MPI_Comm_disconnect(&child);
    return check_end();
}

/* SPDX-License-Identifier: MIT */
/* Ends with 0 if it can spawn a process. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    int rc = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        rc = MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                            MPI_ERRCODES_IGNORE);
    if (rc != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_disconnect(parent == MPI_COMM_NULL ? &child : &parent);
    MPI_Finalize();
    return 0;
}

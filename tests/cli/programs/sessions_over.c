/* SPDX-License-Identifier: MIT */
// What a record cannot have: a session that begins after the last one has ended (`again`), and one
// that is open behind MPI_Finalize (`behind`).
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    int is_behind = argc > 1 && strcmp(argv[1], "behind") == 0;

    if (is_behind)
        MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    puts("begun");
    fflush(stdout);
    if (is_behind)
        MPI_Finalize();
    MPI_Session_finalize(&session);
    puts("ended");
    fflush(stdout);
    if (!is_behind) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        puts("begun again");
        MPI_Session_finalize(&session);
    }
#else
    (void)argc, (void)argv;
    puts("SKIP");
#endif
    return 0;
}

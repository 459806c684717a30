/* SPDX-License-Identifier: MIT */
/* The program imports nothing but MPI's plain functions (no macro); a library of it (LIBRARY) loads
 * a plugin (PLUGIN), which begins an MPI_Isendrecv that the program completes. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

void begin(long *mine, long *theirs, int rank, int size, int step, MPI_Request *request);

#if defined PLUGIN
void begin(long *mine, long *theirs, int rank, int size, int step, MPI_Request *request)
{
    MPI_Isendrecv(mine, 1, MPI_LONG, (rank + 1) % size, step, theirs, 1, MPI_LONG, MPI_ANY_SOURCE,
                  step, MPI_COMM_WORLD, request);
}
#elif defined LIBRARY
void begin(long *mine, long *theirs, int rank, int size, int step, MPI_Request *request)
{
    static void (*of_plugin)(long *, long *, int, int, int, MPI_Request *);

    if (!of_plugin)
        *(void **)&of_plugin = dlsym(dlopen("./libplugin.so", RTLD_NOW | RTLD_LOCAL), "begin");
    of_plugin(mine, theirs, rank, size, step, request);
}
#else
int main(int argc, char **argv)
{
    int rank, size;
    long mine, theirs, sum = 0, all[8];
    MPI_Request request;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 20; step++) {
        mine = rank * 100 + step;
        if (step % 2 == 0) {
            MPI_Irecv(&theirs, 1, MPI_LONG, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &request);
            MPI_Send(&mine, 1, MPI_LONG, (rank + 1) % size, step, MPI_COMM_WORLD);
        } else {
            begin(&mine, &theirs, rank, size, step, &request);
        }
        MPI_Wait(&request, &status);
        sum = sum * 31 + theirs * 7 + status.MPI_SOURCE;
    }
    MPI_Gather(&sum, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s%ld%s", i ? " " : "RESULT ", all[i], i == size - 1 ? "\n" : "");
    MPI_Finalize();
    return 0;
}
#endif

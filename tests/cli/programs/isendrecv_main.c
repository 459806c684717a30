/* SPDX-License-Identifier: MIT */
/* Calls exchange() of a library that it is linked with, or loads (PLUGIN), or not at all (IDLE). */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

long exchange(int rank, int size);
int main(int argc, char **argv)
{
    int rank, size;
    long sum, all[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef PLUGIN
    void *plugin = dlopen("./libexchange.so", RTLD_NOW | RTLD_LOCAL);
    sum = ((long (*)(int, int))dlsym(plugin, "exchange"))(rank, size);
#elif defined IDLE
    sum = 0;
#else
    sum = exchange(rank, size);
#endif
    MPI_Gather(&sum, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("%s%ld%s", i ? " " : "RESULT ", all[i], i == size - 1 ? "\n" : "");
    MPI_Finalize();
    return 0;
}

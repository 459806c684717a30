/* SPDX-License-Identifier: MIT */
/* Loads plugin.so for itself and calls it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *plugin = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*work)(void) = plugin ? (int (*)(void))dlsym(plugin, "work") : NULL;
    printf("RESULT %d\n", work ? work() : -1);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Loads a plugin, or MPI itself, and calls MPI_Init there. */
#include <dlfcn.h>
#include <string.h>

int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW | RTLD_GLOBAL);
    if (argc == 1)
        return library ? ((int (*)(void))dlsym(library, "run"))() : 9;
    ((int (*)(void *, void *))dlsym(library, "MPI_Init"))(NULL, NULL);
    return ((int (*)(void))dlsym(library, "MPI_Finalize"))();
}

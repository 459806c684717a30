/* SPDX-License-Identifier: MIT */
/* Calls the function that the argument names, with zeros. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

typedef int function(long, long, long, long, long, long, long, long, long, long, long, long);
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    function *called = (function *)dlsym(RTLD_DEFAULT, argv[1]);
    if (!called)
        puts("not there");
    else
        called(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Finalize();
    return 0;
}

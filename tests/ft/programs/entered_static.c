/* SPDX-License-Identifier: MIT */
/* A program without MPI that sleeps. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 1)
        sleep((unsigned)strtol(argv[1], NULL, 10) *
              (unsigned)strtol(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10));
    puts("static");
    return 0;
}

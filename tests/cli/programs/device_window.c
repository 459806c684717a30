/* SPDX-License-Identifier: MIT */
/* A window of device memory, made by MPI_Win_create or with an argument by MPI_Win_attach. */
#include <mpi.h>

#include "device_gpu.h"

int main(int argc, char **argv)
{
    MPI_Win win;

    MPI_Init(&argc, &argv);
    gpu_open();
    void *memory = gpu_alloc(800);
    if (argc > 1) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, memory, 800);
    } else {
        MPI_Win_create(memory, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: MIT */
// ranks: 3
// about: the memory of a window is given back to the system before the window is freed; messages
//     and other windows come in between
#include "check.h"

#include <sys/mman.h>

enum { SIZE = 1 << 20, COUNT = SIZE / sizeof(int) };

int main(int argc, char **argv)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
    // Its others have no windows of the program's memory on every machine.
    setenv("OMPI_MCA_osc", "pt2pt", 0);
#endif
    check_start(&argc, &argv);
    int next = (check.rank + 1) % check.size, *values = calloc(COUNT, sizeof *values), sum = 0;
    for (int round = 0; round < 3; round++) {
        MPI_Win gone, other;
        int *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            *rest = calloc(COUNT, sizeof *rest);
        for (int i = 0; i < COUNT; i++)
            values[i] = check.rank * 100 + round + i;
        MPI_Win_create(rest, SIZE, sizeof *rest, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
        MPI_Win_create(memory, SIZE, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &gone);
        MPI_Win_fence(0, gone);
        MPI_Put(values, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, gone);
        MPI_Win_fence(0, gone);
        for (int i = 0; i < COUNT; i++)
            check_note(memory[i]);
        munmap(memory, SIZE);
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check_note(sum);
        MPI_Win_fence(0, other);
        MPI_Put(values, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, other);
        MPI_Win_fence(0, other);
        for (int i = 0; i < COUNT; i++)
            check_note(rest[i]);
        MPI_Win_free(&gone);
        free(rest);
        MPI_Win_free(&other);
    }
    free(values);
    return check_end();
}

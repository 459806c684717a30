/* SPDX-License-Identifier: MIT */
// ranks: 3
// flags: -fopenmp
// about: alone: threads of OpenMP that share out a loop as they go, receive from anyone inside it,
//     and take turns in a critical region
#include "../check.h"

#include <omp.h>

enum { MESSAGES = 12 };

int main(int argc, char **argv)
{
    long order = 0, sum = 0;

    if (check_start_thread(&argc, &argv, MPI_THREAD_MULTIPLE) != MPI_THREAD_MULTIPLE)
        return check_skip();
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < MESSAGES; i++) {
            long value = check.rank * 100 + i, got = -1;
            MPI_Status status;
            check_pace(i);
            for (int r = 0; r < check.size; r++)
                MPI_Send(&value, 1, MPI_LONG, r, 0, MPI_COMM_WORLD);
            for (int r = 0; r < check.size; r++) {
                MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
#pragma omp critical
                order = order * 31 + got * 7 + omp_get_thread_num() + status.MPI_SOURCE;
            }
            sum += got * (omp_get_thread_num() + 1);
        }
#pragma omp barrier
#pragma omp single
        {
            long own = order, all = 0;
            MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
            order += all;
        }
    }
    check_note(order);
    check_note(sum);
    return check_end();
}

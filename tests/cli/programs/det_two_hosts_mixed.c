/* SPDX-License-Identifier: MIT */
/*
 * Messages of two lengths from anyone, polls, non-blocking barriers and reductions over both hosts;
 * what comes and how often it is polled goes into a hash.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG = 20000 };
int main(int argc, char **argv)
{
    static int big[LONG], into[LONG];
    static MPI_Status statuses[8];
    int rank, size, flag;
    long hash = 7, sum;
    MPI_Status status;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half); /* over both hosts */
    for (int round = 0; round < 20; round++) {
        MPI_Request barrier, sends[8];
        int polls = 0, sent = 0;
        big[0] = rank * 100 + round;
        for (int i = 0; i < size; i++)
            if (i != rank)
                MPI_Isend(big, (i + round) % 3 == 0 ? LONG : 1, MPI_INT, i, 1, MPI_COMM_WORLD,
                          &sends[sent++]);
        for (int i = 0; i < size - 1; i++) {
            MPI_Recv(into, LONG, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            hash = hash * 31 + into[0];
            if (rank == round % size)
                MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status),
                    hash = hash * 3 + flag;
        }
        do
            MPI_Testall(sent, sends, &flag, statuses), polls++;
        while (!flag);
        MPI_Ibarrier(round % 2 ? MPI_COMM_WORLD : half, &barrier);
        do
            MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE), polls++;
        while (!flag);
        hash = hash * 31 + polls;
        MPI_Allreduce(&hash, &sum, 1, MPI_LONG, MPI_BXOR, round % 3 ? MPI_COMM_WORLD : half);
        hash ^= sum >> 3;
        MPI_Barrier(half);
    }
    MPI_Reduce(&hash, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT hash=%016lx\n", (unsigned long)sum);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: same
// about: commutative regions of two ranks, in another order without consequence; with arguments,
//     one of them does not commute, and only what is made of it later shows that
#include "check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reprise.h"

enum { ROUNDS = 6, TAG = 3, WRONG_ROUND = 3, PERSISTENT = 4 };

struct padded {
    char kind;
    double number;
};

static int rank, ranks;
static const char *manner = "";

static int is(const char *name)
{
    return strstr(manner, name) != NULL;
}

/* One message of every other rank: the sum, and what depends on their order. */
static long collect(int *last, long list[], double *sum)
{
    long all = 0;
    int value;

    *last = 0;
    *sum = 0;
    reprise_commutative_begin((unsigned long)(is("early") ? 100 : ranks - 1)); // region
    for (int i = 0; i < ranks - 1; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        all += value;
        *last = value;
        list[i] = value;
        *sum += value > 3000 ? 1e17 : value;
        int answer =
            is("answer") ? i : value; /* out of the region, in the order in which they came */
        MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, TAG + 1, MPI_COMM_WORLD);
    }
    reprise_commutative_end();
    return all;
}

static void contribute(int owner, int round)
{
    int value = rank * 1000 + round * 7, answer;

    MPI_Send(&value, 1, MPI_INT, owner, TAG, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_INT, owner, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Data of a type with gaps, whose bytes in the gaps are never the same. */
static void send_padded(long all)
{
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE}, packed, type;
    MPI_Aint places[] = {offsetof(struct padded, kind), offsetof(struct padded, number)};
    struct padded out[2], in[2];
    int lengths[] = {1, 1};
    MPI_Type_create_struct(2, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct padded), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&packed);
    memset(out, getpid(), sizeof out);
    for (int i = 0; i < 2; i++) {
        out[i].kind = 'x';
        out[i].number = (double)all;
    }
    MPI_Sendrecv(out, 2, type, 0, TAG + 2, in, 2, type, 0, TAG + 2, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    int last = 0;
    long list[64] = {0}, total = 0, kept = 0, seen = 0, persistent = 0;
    double sum = 0;
    MPI_Request requests[2];

    manner = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Send_init(&persistent, 1, MPI_LONG, 0, TAG + 4, MPI_COMM_SELF, &requests[0]);
    MPI_Recv_init(&seen, 1, MPI_LONG, 0, TAG + 4, MPI_COMM_SELF, &requests[1]);
    for (int round = 0; round < ROUNDS; round++) {
        int owner = round % 2;
        long all = 0;
        if (rank == owner)
            all = collect(&last, list, &sum);
        else
            contribute(owner, round);
        if (rank == owner && round == WRONG_ROUND)
            kept = last;
        total += all;
        if (rank == owner)
            send_padded(all);
        MPI_Bcast(&all, 1, MPI_LONG, owner, MPI_COMM_WORLD);
        if (round == WRONG_ROUND && is("list"))
            MPI_Bcast(list, ranks - 1, MPI_LONG, owner, MPI_COMM_WORLD);
        if (round == WRONG_ROUND && is("rounding"))
            MPI_Bcast(&sum, 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
        if (round == PERSISTENT && rank == 1) {
            persistent = is("persistent") ? kept : total;
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        if (is("noise")) {
            double now = MPI_Wtime();
            MPI_Bcast(&now, 1, MPI_DOUBLE, owner, MPI_COMM_WORLD);
        }
    }
    if (is("late"))
        MPI_Allreduce(MPI_IN_PLACE, &kept, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (is("printed") && rank == 1)
        printf("KEPT %ld\n", kept);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &total, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT %ld\n", total);
    MPI_Finalize();
    return 0;
}

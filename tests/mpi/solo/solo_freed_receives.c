/* SPDX-License-Identifier: MIT */
// ranks: 2
// about: persistent receives from a known rank that are freed while they are under way: their
//     messages come later; types with holes, a second start, and several at once
#include "check.h"

enum { ROUNDS = 8, TAG = 1, TAG_GO = 2, TAG_AFTER = 3 };

static long values[ROUNDS][3];

static void start_and_free(long *into, int starts, MPI_Datatype type)
{
    MPI_Request request;

    MPI_Recv_init(into, 1, type, 0, TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < starts; i++) {
        MPI_Start(&request);
        if (i + 1 < starts)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "request not null after Request_free");
}

// The messages come once the receives are freed, and before the one that is waited for.
static void receive(MPI_Datatype ends)
{
    long nothing = 0;

    start_and_free(values[0], 2, ends);
    check_note((uint64_t)values[0][0]);
    for (int i = 1; i < ROUNDS; i++)
        start_and_free(values[i], 1, ends);
    MPI_Send(&nothing, 1, MPI_LONG, 0, TAG_GO, MPI_COMM_WORLD);
    MPI_Recv(&nothing, 1, MPI_LONG, 0, TAG_AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROUNDS; i++)
        for (int k = 0; k < 3; k++)
            check_note((uint64_t)values[i][k]);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(values[i][0] == 100 + i && values[i][1] == 0 && values[i][2] == -100 - i,
              "receive %d got %ld %ld %ld", i, values[i][0], values[i][1], values[i][2]);
}

static void send(MPI_Datatype ends)
{
    long first[3] = {7, 8, 9}, nothing = 0;

    MPI_Send(first, 1, ends, 1, TAG, MPI_COMM_WORLD);
    MPI_Recv(&nothing, 1, MPI_LONG, 1, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROUNDS; i++) {
        long value[3] = {100 + i, 55, -100 - i};
        MPI_Send(value, 1, ends, 1, TAG, MPI_COMM_WORLD);
    }
    MPI_Send(&nothing, 1, MPI_LONG, 1, TAG_AFTER, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Datatype ends;

    check_start(&argc, &argv);
    MPI_Type_vector(2, 1, 2, MPI_LONG, &ends);
    MPI_Type_commit(&ends);
    if (check.rank == 0)
        send(ends);
    else
        receive(ends);
    MPI_Type_free(&ends);
    if (check.rank > 0) {
        printf("rank %d: %016llx\n", check.rank, (unsigned long long)check.hash);
        fflush(stdout);
    }
    return check_end();
}

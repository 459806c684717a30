/* SPDX-License-Identifier: MIT */
// ranks: 3
// timeout: 120
// natively: 60
// about: partitioned messages of ranks alone: each side has partitions of its own size, with holes
//     between the elements; the receiver uses a partition as soon as MPI_Parrived answers yes
#include "check.h"

#if MPI_VERSION >= 4

enum { ROUNDS = 5, ELEMENTS = 96, PARTS_SENT = 8, PARTS_RECEIVED = 4, TAG = 3 };

// Every other long.
static MPI_Datatype spaced(void)
{
    MPI_Datatype vector, type;

    MPI_Type_vector(1, 1, 2, MPI_LONG, &vector);
    MPI_Type_create_resized(vector, 0, 2 * sizeof(long), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

static void note_part(const long *values, int part)
{
    int each = ELEMENTS / PARTS_RECEIVED;

    for (int i = part * each; i < (part + 1) * each; i++)
        check_note((uint64_t)values[2 * i]);
}

static void receive_round(long *values, MPI_Request *request)
{
    int seen[PARTS_RECEIVED] = {0}, left = PARTS_RECEIVED, polls = 0;

    memset(values, 0xff, 2 * ELEMENTS * sizeof *values);
    MPI_Start(request);
    for (int i = 0; left > 0; i = (i + 1) % PARTS_RECEIVED) {
        int flag = 0;
        if (!seen[i])
            MPI_Parrived(*request, i, &flag);
        polls += !seen[i];
        if (flag) {
            note_part(values, i);
            seen[i] = 1;
            left--;
        } else {
            sched_yield();
        }
    }
    check_note((uint64_t)polls);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK(values[2 * i + 1] == -1, "element %d: a hole was written", i);
}

static void receive_all(int source)
{
    static long values[2 * ELEMENTS];
    MPI_Datatype type = spaced();
    MPI_Request request;

    MPI_Precv_init(values, PARTS_RECEIVED, ELEMENTS / PARTS_RECEIVED, type, source, TAG,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++)
        receive_round(values, &request);
    MPI_Request_free(&request);
    MPI_Type_free(&type);
}

static void ready(int round, MPI_Request request)
{
    int some[] = {4, 6, 5};

    if (round % 2 == 0) {
        MPI_Pready_range(0, PARTS_SENT - 1, request);
        return;
    }
    MPI_Pready(7, request);
    MPI_Pready_list(3, some, request);
    check_pace(round);
    MPI_Pready_range(0, 3, request);
}

static void send_all(int dest)
{
    static long values[ELEMENTS];
    MPI_Request request;

    MPI_Psend_init(values, PARTS_SENT, ELEMENTS / PARTS_SENT, MPI_LONG, dest, TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ELEMENTS; i++)
            values[i] = check_value(check.rank, round * ELEMENTS + i);
        MPI_Start(&request);
        ready(round, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check.rank < check.size - 1)
        receive_all(check.rank + 1);
    if (check.rank > 0)
        send_all(check.rank - 1);
    return check_end();
}

#else

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_skip();
}

#endif

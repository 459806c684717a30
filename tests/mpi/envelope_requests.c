/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// clocks: 1
// timeout: 120
// about: thousands of requests with clocks under way: one Waitall, loops of Testsome, freed ones,
//     cancelled ones, persistent ones started again and again, a buffer of exactly the size needed
#include "check.h"

enum { MANY = 3000, TAG = 3, LONG = 30000, TURNS = 50, BUFFERED = 40 };

static long in[MANY], out[MANY];
static MPI_Request requests[2 * MANY];

static void one_waitall(void)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    static MPI_Status statuses[2 * MANY];

    for (int i = 0; i < MANY; i++) {
        out[i] = check_value(check.rank, i);
        MPI_Irecv(&in[i], 1, MPI_LONG, before, TAG, MPI_COMM_WORLD, &requests[2 * i]);
        MPI_Isend(&out[i], 1, MPI_LONG, next, TAG, MPI_COMM_WORLD, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * MANY, requests, statuses);
    for (int i = 0; i < MANY; i++)
        CHECK(in[i] == check_value(before, i) && check_bytes(&statuses[2 * i]) == 8, "%ld at %d",
              in[i], i);
}

static void loops_of_testsome(void)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size,
        indices[200], some, left = 200;
    MPI_Status statuses[200];

    for (int i = 0; i < 100; i++) {
        in[i] = -1, out[i] = check_value(check.rank, i);
        MPI_Irecv(&in[i], 1, MPI_LONG, before, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Issend(&out[99 - i], 1, MPI_LONG, next, 99 - i, MPI_COMM_WORLD, &requests[100 + i]);
    }
    while (left > 0) {
        MPI_Testsome(200, requests, &some, indices, statuses);
        for (int i = 0; i < some; i++)
            if (indices[i] < 100)
                CHECK(in[indices[i]] == check_value(before, indices[i]) &&
                          check_bytes(&statuses[i]) == 8,
                      "%ld at %d", in[indices[i]], indices[i]);
        left -= some;
    }
}

static void freed(void)
{
    static char large[2][LONG];
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    MPI_Request request;
    long value = -1, freely = check_value(check.rank, 0);

    memset(large[0], 7, LONG);
    MPI_Isend(large[0], LONG, MPI_CHAR, next, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(large[1], LONG, MPI_CHAR, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(memcmp(large[0], large[1], LONG) == 0, "other contents");
    // A receive that is freed: a later message of the same sender tells that it is complete.
    MPI_Irecv(&value, 1, MPI_LONG, before, TAG, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL, "a freed request is left");
    MPI_Send(&freely, 1, MPI_LONG, next, TAG, MPI_COMM_WORLD);
    MPI_Send(&freely, 0, MPI_LONG, next, TAG, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_LONG, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == check_value(before, 0), "%ld was received freely", value);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void cancelled(void)
{
    MPI_Request request;
    MPI_Status status;
    long value = 5;
    int flag = 0;

    MPI_Irecv(&value, 1, MPI_LONG, check.rank, TAG + 2, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag && value == 5, "not cancelled");
}

static void again(int length)
{
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    long *from = calloc((size_t)length * 2, sizeof *from), *to = from + length;
    MPI_Request both[2];
    MPI_Status statuses[2];

    MPI_Recv_init(to, length, MPI_LONG, before, TAG, MPI_COMM_WORLD, &both[0]);
    MPI_Send_init(from, length, MPI_LONG, next, TAG, MPI_COMM_WORLD, &both[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        from[length - 1] = check_value(check.rank, turn);
        MPI_Startall(2, both);
        MPI_Waitall(2, both, turn % 2 ? statuses : MPI_STATUSES_IGNORE);
        CHECK(to[length - 1] == check_value(before, turn), "%ld in turn %d", to[length - 1], turn);
        CHECK(turn % 2 == 0 || check_bytes(&statuses[0]) == length * 8, "%d bytes",
              check_bytes(&statuses[0]));
    }
    MPI_Start(&both[1]);
    MPI_Recv(to, length, MPI_LONG, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request_free(&both[1]); // perhaps while active
    MPI_Request_free(&both[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    free(from);
}

static void exactly_buffered(void)
{
    int one = 0, next = (check.rank + 1) % check.size,
        before = (check.rank + check.size - 1) % check.size, size;
    char *buffer;
    void *detached;

    MPI_Pack_size(1, MPI_LONG, MPI_COMM_WORLD, &one);
    size = BUFFERED * (one + MPI_BSEND_OVERHEAD);
    buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int i = 0; i < BUFFERED; i++) {
        long value = check_value(check.rank, i);
        MPI_Bsend(&value, 1, MPI_LONG, next, TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < BUFFERED; i++) {
        long value = -1;
        MPI_Recv(&value, 1, MPI_LONG, before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(value == check_value(before, i), "%ld was buffered", value);
    }
    MPI_Buffer_detach(&detached, &size);
    CHECK(detached == buffer && size == BUFFERED * (one + MPI_BSEND_OVERHEAD),
          "another buffer came back");
    free(buffer);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    one_waitall();
    loops_of_testsome();
    freed();
    cancelled();
    again(1);
    again(20000);
    exactly_buffered();
    check_note(1);
    return check_end();
}

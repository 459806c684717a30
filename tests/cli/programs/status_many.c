/* SPDX-License-Identifier: MIT */
// Asks about several requests at once (MPI 4.1). With an argument, it also asks about persistent
// requests, which the library of status_below.c does not know enough about.
#include "../../mpi/check.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION < 41
int MPI_Request_get_status_any(int count, const MPI_Request *requests, int *index, int *flag,
                               MPI_Status *status);
int MPI_Request_get_status_all(int count, const MPI_Request *requests, int *flag,
                               MPI_Status *statuses);
int MPI_Request_get_status_some(int count, const MPI_Request *requests, int *outcount, int *indices,
                                MPI_Status *statuses);
#endif

enum { ROUNDS = 4, MOST = 8, TAG = 1, GO = 2, PERSISTENT = 3 };

static MPI_Request requests[MOST];
static MPI_Status statuses[MOST], status;
static int indices[MOST];

static void expect_empty(const MPI_Status *s)
{
    CHECK(s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG && check_bytes(s) == 0,
          "source %d, tag %d, %d bytes", s->MPI_SOURCE, s->MPI_TAG, check_bytes(s));
}

// Nothing is active.
static void ask_of_nothing(int count)
{
    int index = 7, flag = 0, outcount = 7;

    MPI_Request_get_status_any(count, requests, &index, &flag, &status);
    CHECK(flag && index == MPI_UNDEFINED, "any: flag %d, index %d", flag, index);
    expect_empty(&status);
    flag = 0;
    MPI_Request_get_status_all(count, requests, &flag, statuses);
    CHECK(flag, "all: no");
    for (int i = 0; i < count; i++)
        expect_empty(&statuses[i]);
    MPI_Request_get_status_some(count, requests, &outcount, indices, statuses);
    CHECK(outcount == MPI_UNDEFINED || outcount == 0, "some: %d", outcount); // 0: Open MPI 6.0.0rc2
}

static void post_all(long *values)
{
    for (int i = 0; i < check.size - 1; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &requests[i]);
    requests[check.size - 1] = MPI_REQUEST_NULL;
}

// How often each said no is the same in a replay.
static void ask_any(int count)
{
    int index = -1, flag = 0;
    long polls = 0;

    for (; !flag; polls++) {
        MPI_Request_get_status_any(count, requests, &index, &flag, &status);
        CHECK(flag || index == MPI_UNDEFINED, "index %d", index);
        check_rest();
    }
    check_note(polls);
    check_note(index);
    check_note_status(&status);
    CHECK(requests[index] != MPI_REQUEST_NULL, "the request was completed");
}

static void ask_some(int count)
{
    int outcount = 0;
    long polls = 0;

    for (; outcount == 0; polls++) {
        MPI_Request_get_status_some(count, requests, &outcount, indices, statuses);
        check_rest();
    }
    check_note(polls);
    for (int i = 0; i < outcount; i++) {
        check_note(indices[i]);
        check_note_status(&statuses[i]);
    }
    check_note(outcount);
}

static void ask_all(int count)
{
    int flag = 0;
    long polls = 0;

    for (; !flag; polls++) {
        MPI_Request_get_status_all(count, requests, &flag, statuses);
        check_rest();
    }
    check_note(polls);
    for (int i = 0; i < count - 1; i++)
        check_note_status(&statuses[i]);
    expect_empty(&statuses[count - 1]);
    MPI_Request_get_status_all(count, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag, "it is not complete any more");
}

static void receive_all(void)
{
    long values[MOST];

    for (int round = 0; round < ROUNDS; round++) {
        post_all(values);
        for (int i = 1; i < check.size; i++)
            MPI_Send(NULL, 0, MPI_BYTE, i, GO, MPI_COMM_WORLD);
        ask_any(check.size);
        ask_some(check.size);
        ask_all(check.size);
        MPI_Waitall(check.size, requests, statuses);
        for (int i = 0; i < check.size - 1; i++)
            check_note_message(values[i], &statuses[i]);
        ask_of_nothing(check.size);
    }
}

static void send_all(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_send_paced(0, TAG, round);
    }
}

static void expect_some(int expected)
{
    int outcount = -1;

    MPI_Request_get_status_some(3, requests, &outcount, indices, MPI_STATUSES_IGNORE);
    CHECK(outcount == expected, "%d instead of %d", outcount, expected);
}

static void wait_persistent(int how)
{
    int index = 0, flag = 0, outcount = 0;

    if (how == 0)
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int done = 0; how == 1 && done < 2; done++)
        MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    for (int done = 0; how == 2 && done < 2; done += outcount)
        MPI_Waitsome(2, requests, &outcount, indices, MPI_STATUSES_IGNORE);
    while (how == 3 && !flag)
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    if (how == 4) {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect_some(1);
        while (!flag)
            MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    }
}

// A send and a receive that are inactive, complete, and inactive again, and one that stays
// inactive.
static void ask_of_persistent(void)
{
    long sent = check.rank, received = -1, never = 0;
    int next = (check.rank + 1) % check.size, before = (check.rank + check.size - 1) % check.size;
    int flag;

    MPI_Send_init(&sent, 1, MPI_LONG, next, PERSISTENT, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&received, 1, MPI_LONG, before, PERSISTENT, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&never, 1, MPI_LONG, before, PERSISTENT + 1, MPI_COMM_WORLD, &requests[2]);
    for (int how = 0; how < 5; how++) {
        ask_of_nothing(3);
        MPI_Startall(2, requests);
        for (flag = 0; !flag;)
            MPI_Request_get_status_all(3, requests, &flag, statuses);
        CHECK(statuses[1].MPI_SOURCE == before, "source %d", statuses[1].MPI_SOURCE);
        expect_empty(&statuses[2]);
        expect_some(2);
        CHECK(received == before, "received %ld", received);
        received = -1;
        wait_persistent(how);
    }
    ask_of_nothing(3);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
    ask_of_nothing(3);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < MOST; i++)
        requests[i] = MPI_REQUEST_NULL;
    ask_of_nothing(0);
    ask_of_nothing(2);
    if (check.rank == 0)
        receive_all();
    else
        send_all();
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1)
        ask_of_persistent();
    return check_end();
}

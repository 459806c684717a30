/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: differs
// about: a wildcard receive posted first and matched last, after tens of thousands of others;
//     argv[1]: how many
#include "check.h"

enum { TAG_WORK = 1, TAG_DONE = 2, TAG_SHUTDOWN = 3, WINDOW = 50 };

// Alternates between polling and waiting. Returns the index of the completed request.
static int next(MPI_Request *requests, int turn, MPI_Status *status)
{
    int flag = 0, index = -1;

    for (int i = 0; turn % 4 == 0 && i < 3 && !flag; i++) {
        MPI_Testany(2, requests, &index, &flag, status);
        check_note(flag);
    }
    if (!flag)
        MPI_Waitany(2, requests, &index, status);
    check_note(index);
    return index;
}

static void cancel(MPI_Request *request)
{
    int cancelled = 0;
    MPI_Status status;

    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled, "the last work receive was matched");
}

static void serve(long expected)
{
    long values[2], turn = 0;
    MPI_Request requests[2];
    MPI_Status status;

    MPI_Irecv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_SHUTDOWN, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&values[1], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD, &requests[1]);
    while (next(requests, (int)turn, &status) == 1) {
        check_note_message(values[1], &status);
        turn++;
        MPI_Irecv(&values[1], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD, &requests[1]);
    }
    check_note_message(values[0], &status);
    CHECK(turn == expected, "%ld messages before the shutdown, not %ld", turn, expected);
    cancel(&requests[1]);
}

// Each window ends with a synchronous send: the receiver is not flooded, and the last one tells
// that all were received.
static void work(long messages)
{
    check_pace(0);
    for (long i = 1; i <= messages; i++) {
        long value = check_value(check.rank, (int)i);
        if (i % WINDOW == 0 || i == messages)
            MPI_Ssend(&value, 1, MPI_LONG, 0, TAG_WORK, MPI_COMM_WORLD);
        else
            MPI_Send(&value, 1, MPI_LONG, 0, TAG_WORK, MPI_COMM_WORLD);
    }
}

// Rank 1 sends the shutdown when all others have told it that they are done.
static void finish(void)
{
    if (check.rank != 1) {
        MPI_Send(NULL, 0, MPI_LONG, 1, TAG_DONE, MPI_COMM_WORLD);
        return;
    }
    for (int r = 2; r < check.size; r++)
        MPI_Recv(NULL, 0, MPI_LONG, MPI_ANY_SOURCE, TAG_DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_send(0, TAG_SHUTDOWN, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    long messages = (argc > 1 ? strtol(argv[1], NULL, 10) : 20000) / (check.size - 1);
    if (check.rank == 0) {
        serve(messages * (check.size - 1));
    } else {
        work(messages);
        finish();
    }
    return check_end();
}

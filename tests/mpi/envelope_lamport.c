/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// clocks: 1
// about: keeps Lamport's clock by itself, in its messages, and prints what it should be for every
//     receive; tests/cli/clocks.sh compares that with the record
#include "check.h"

enum { ROUNDS = 20, FAN = 3 };

// What a message carries: the clock that it is sent with.
static long now;
static FILE *told;

static void sends(long *message)
{
    *message = now++;
}

static void receives(long message, int sender, int index)
{
    now = (message > now ? message : now) + 1;
    fprintf(told, "%d sender=%d clock=%ld index=%d\n", check.rank, sender, message, index);
    check_note(message);
    check_note(sender);
}

static void gather(int round)
{
    long out, in[FAN];
    MPI_Request requests[FAN];
    MPI_Status statuses[FAN];
    int indices[FAN], some;

    if (check.rank != 0) {
        check_pace(round);
        sends(&out);
        MPI_Send(&out, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        return;
    }
    for (int i = 0; i < FAN; i++)
        MPI_Irecv(&in[i], 1, MPI_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[i]);
    if (round % 3 == 0) {
        MPI_Waitall(FAN, requests, statuses);
        for (int i = 0; i < FAN; i++)
            receives(in[i], statuses[i].MPI_SOURCE, i);
    }
    for (int left = round % 3 == 0 ? 0 : FAN; left > 0; left -= some) {
        some = 0;
        while (some == 0)
            if (round % 3 == 1)
                MPI_Testsome(FAN, requests, &some, indices, statuses);
            else
                MPI_Waitany(FAN, requests, indices, statuses), some = 1;
        for (int i = 0; i < some; i++)
            receives(in[indices[i]], statuses[i].MPI_SOURCE, indices[i]);
    }
}

// Everybody's clock is larger than all were.
static void meets(void)
{
    long largest;

    MPI_Allreduce(&now, &largest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    now = largest + 1;
}

static void in_line(MPI_Comm line)
{
    long out, in;
    int place, next, before;
    MPI_Status status;
    MPI_Message message;

    MPI_Comm_rank(line, &place);
    next = (place + 1) % check.size, before = (place + check.size - 1) % check.size;
    sends(&out);
    MPI_Sendrecv(&out, 1, MPI_LONG, next, 2, &in, 1, MPI_LONG, before, 2, line, &status);
    receives(in, check.size - 1 - before, -1); // the line is in reverse
    sends(&out);
    MPI_Send(&out, 1, MPI_LONG, next, 3, line);
    MPI_Mprobe(MPI_ANY_SOURCE, 3, line, &message, &status);
    MPI_Mrecv(&in, 1, MPI_LONG, &message, &status);
    receives(in, check.size - 1 - before, -1);
}

static void again(MPI_Request *send, MPI_Request *receive, long *out, const long *in)
{
    int done = 0;

    MPI_Start(receive);
    sends(out);
    MPI_Start(send);
    while (!done)
        MPI_Test(receive, &done, MPI_STATUS_IGNORE);
    receives(*in, (check.rank + 1) % check.size, -1);
    MPI_Wait(send, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    char name[256];
    long out, in;
    MPI_Request send, receive;
    MPI_Comm line;

    check_start(&argc, &argv);
    snprintf(name, sizeof name, "%s.%d", getenv("TEST_TOLD") ? getenv("TEST_TOLD") : "/dev/null",
             check.rank);
    told = fopen(getenv("TEST_TOLD") ? name : "/dev/null", "w");
    CHECK(told, "cannot write");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check.rank, &line);
    now = 2; // a barrier of check_start, and this
    MPI_Send_init(&out, 1, MPI_LONG, (check.rank + check.size - 1) % check.size, 4, MPI_COMM_WORLD,
                  &send);
    MPI_Recv_init(&in, 1, MPI_LONG, (check.rank + 1) % check.size, 4, MPI_COMM_WORLD, &receive);
    for (int round = 0; round < ROUNDS; round++) {
        gather(round);
        in_line(line);
        again(&send, &receive, &out, &in);
        if (round % 5 == 4)
            meets();
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Comm_free(&line);
    fclose(told);
    return check_end();
}

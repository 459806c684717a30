/* SPDX-License-Identifier: MIT */
// ranks: 3
// native: same
// across: what a status has in MPI_ERROR
// also: clocks
// about: single-completion calls leave a status's MPI_ERROR as the MPI does without us, here noted
//     for each call
#include "check.h"

enum { MARK = 12345 };

static long value;
static MPI_Status status;

static MPI_Status *marked(void)
{
    memset(&status, 0, sizeof status);
    status.MPI_ERROR = MARK;
    return &status;
}

// The source is left out: it differs between runs.
static void note(void)
{
    CHECK(value == check_value(status.MPI_SOURCE, 0), "value %ld from %d", value,
          status.MPI_SOURCE);
    check_note(status.MPI_ERROR);
    check_note(status.MPI_TAG);
    check_note(check_bytes(&status));
    value = -1;
}

static void by_recv(int tag)
{
    MPI_Recv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, marked());
}

static void by_wait(int tag)
{
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, marked());
}

static void by_test(int tag)
{
    int flag = 0;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &flag, marked()), !flag)
        CHECK(status.MPI_ERROR == MARK, "a failed Test wrote to the status");
}

static void by_waitany(int tag)
{
    int index;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Waitany(1, &request, &index, marked());
}

static void by_testany(int tag)
{
    int flag = 0, index;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    while (MPI_Testany(1, &request, &index, &flag, marked()), !flag)
        sched_yield();
}

static void by_probe(int tag)
{
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, marked());
    check_note(status.MPI_ERROR);
    int source = status.MPI_SOURCE; // before marked(): arguments have no order
    MPI_Recv(&value, 1, MPI_LONG, source, tag, MPI_COMM_WORLD, marked());
}

static void by_mprobe(int tag)
{
    MPI_Message message;

    MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, marked());
    check_note(status.MPI_ERROR);
    MPI_Mrecv(&value, 1, MPI_LONG, &message, marked());
}

static void by_sendrecv(int tag)
{
    MPI_Sendrecv(NULL, 0, MPI_LONG, MPI_PROC_NULL, tag, &value, 1, MPI_LONG, MPI_ANY_SOURCE, tag,
                 MPI_COMM_WORLD, marked());
}

static void by_get_status(int tag)
{
    int flag = 0;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    while (MPI_Request_get_status(request, &flag, marked()), !flag)
        sched_yield();
    check_note(status.MPI_ERROR);
    MPI_Wait(&request, marked());
}

// A multiple-completion call that succeeds need not set the field either.
static void by_waitall(int tag)
{
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Waitall(1, &request, marked());
}

static void by_waitsome(int tag)
{
    int count, index;
    MPI_Request request;

    MPI_Irecv(&value, 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
    MPI_Waitsome(1, &request, &count, &index, marked());
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(int) = {by_recv,       by_wait,    by_test,    by_waitany,
                                         by_testany,    by_probe,   by_mprobe,  by_sendrecv,
                                         by_get_status, by_waitall, by_waitsome};

    check_start(&argc, &argv);
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++) {
        if (check.rank > 0) {
            check_pace(kind);
            check_send(0, kind, 0, MPI_COMM_WORLD);
        }
        for (int i = 1; check.rank == 0 && i < check.size; i++) {
            kinds[kind](kind);
            note();
        }
    }
    return check_end();
}

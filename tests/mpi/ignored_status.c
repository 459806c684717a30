/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: every kind of wildcard receive with its status ignored; only payloads tell the order
#include "check.h"

enum { SLOTS = 3 };

static long values[SLOTS];
static MPI_Request requests[SLOTS];

static void post(int tag)
{
    for (int i = 0; i < SLOTS; i++)
        MPI_Irecv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i]);
}

static void note_values(void)
{
    for (int i = 0; i < SLOTS; i++)
        check_note(values[i]);
}

static void by_recv(int tag)
{
    for (int i = 0; i < SLOTS; i++)
        MPI_Recv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_wait(int tag)
{
    post(tag);
    for (int i = 0; i < SLOTS; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void by_waitany(int tag)
{
    post(tag);
    for (int i = 0; i < SLOTS; i++) {
        int index;
        MPI_Waitany(SLOTS, requests, &index, MPI_STATUS_IGNORE);
        check_note(index);
    }
}

static void by_waitsome(int tag)
{
    int count, indices[SLOTS];

    post(tag);
    while (MPI_Waitsome(SLOTS, requests, &count, indices, MPI_STATUSES_IGNORE),
           count != MPI_UNDEFINED)
        check_note(count);
}

static void by_waitall(int tag)
{
    post(tag);
    MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE);
}

static void by_test(int tag)
{
    post(tag);
    for (int i = 0; i < SLOTS; i++)
        for (int flag = 0; !flag; check_note(flag))
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
}

static void by_testsome(int tag)
{
    int count, indices[SLOTS];

    post(tag);
    while (MPI_Testsome(SLOTS, requests, &count, indices, MPI_STATUSES_IGNORE),
           count != MPI_UNDEFINED)
        check_note(count);
}

static void by_testall(int tag)
{
    post(tag);
    for (int flag = 0; !flag; check_note(flag))
        MPI_Testall(SLOTS, requests, &flag, MPI_STATUSES_IGNORE);
}

static void by_sendrecv(int tag)
{
    for (int i = 0; i < SLOTS; i++)
        MPI_Sendrecv(NULL, 0, MPI_LONG, MPI_PROC_NULL, tag, &values[i], 1, MPI_LONG, MPI_ANY_SOURCE,
                     tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_mrecv(int tag)
{
    for (int i = 0; i < SLOTS; i++) {
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&values[i], 1, MPI_LONG, &message, MPI_STATUS_IGNORE);
    }
}

static void by_iprobe(int tag)
{
    for (int i = 0; i < SLOTS; i++) {
        for (int flag = 0; !flag; check_note(flag))
            MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(&values[i], 1, MPI_LONG, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(int) = {by_recv,     by_wait,  by_waitany,  by_waitsome,
                                         by_waitall,  by_test,  by_testsome, by_testall,
                                         by_sendrecv, by_mrecv, by_iprobe};

    check_start(&argc, &argv);
    for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); kind++) {
        if (check.rank == 0) {
            kinds[kind](kind);
            note_values();
        } else {
            check_send_paced(0, kind, kind);
        }
    }
    return check_end();
}

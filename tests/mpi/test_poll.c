/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: MPI_Test polled on wildcard and named receives and on sends, with the failed polls counted
#include "check.h"

enum { ROUNDS = 5, TAG = 1, TAG_BACK = 2 };

static void poll(MPI_Request *request, MPI_Status *status)
{
    int flag = 0;
    long failed = 0;

    while (MPI_Test(request, &flag, status), !flag) {
        CHECK(*request != MPI_REQUEST_NULL, "null request after a failed Test");
        failed++;
        check_rest();
    }
    CHECK(*request == MPI_REQUEST_NULL, "request not null after Test");
    check_note(failed);
}

static void receive_and_answer(int source)
{
    long value = -1;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&value, 1, MPI_LONG, source, TAG, MPI_COMM_WORLD, &request);
    poll(&request, &status);
    check_note_message(value, &status);
    MPI_Issend(&value, 1, MPI_LONG, status.MPI_SOURCE, TAG_BACK, MPI_COMM_WORLD, &request);
    poll(&request, MPI_STATUS_IGNORE);
}

static void ask(int step)
{
    long back = -1;
    MPI_Request request;
    MPI_Status status;

    check_send_paced(0, TAG, step);
    MPI_Irecv(&back, 1, MPI_LONG, 0, TAG_BACK, MPI_COMM_WORLD, &request);
    poll(&request, &status);
    CHECK(back == check_value(check.rank, step), "value %ld", back);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < 2 * ROUNDS; step++)
        ask(step);
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive_and_answer(1 + i % (check.size - 1));
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive_and_answer(MPI_ANY_SOURCE);
    return check_end();
}

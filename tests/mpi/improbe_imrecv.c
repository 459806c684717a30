/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// also: clocks solo
// about: MPI_Improbe polled, MPI_Imrecv completed by Testany together with a plain wildcard receive
#include "check.h"

enum { ROUNDS = 5, TAG = 1, TAG_PLAIN = 2 };

static MPI_Message take(void)
{
    int flag = 0;
    long failed = 0;
    MPI_Message message;
    MPI_Status status;

    while (MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &flag, &message, &status), !flag) {
        failed++;
        check_rest();
    }
    check_note(failed);
    check_note_status(&status);
    return message;
}

static void complete(int count, MPI_Request *requests, const long *values)
{
    long failed = 0;

    for (int left = count; left > 0;) {
        int index = -1, flag = 0;
        MPI_Status status;
        MPI_Testany(count, requests, &index, &flag, &status);
        failed += !flag;
        if (flag) {
            left--;
            check_note(index);
            check_note_message(values[index], &status);
        }
        check_rest();
    }
    check_note(failed);
}

static void receive_step(void)
{
    long values[3];
    MPI_Request requests[3];

    MPI_Irecv(&values[0], 1, MPI_LONG, MPI_ANY_SOURCE, TAG_PLAIN, MPI_COMM_WORLD, &requests[0]);
    for (int i = 1; i < 3; i++) {
        MPI_Message message = take();
        MPI_Imrecv(&values[i], 1, MPI_LONG, &message, &requests[i]);
        CHECK(message == MPI_MESSAGE_NULL, "message not null after Imrecv");
    }
    complete(3, requests, values);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS; step++) {
        check_send_paced(0, TAG, 2 * step);
        check_send_paced(0, TAG_PLAIN, step);
        check_send_paced(0, TAG, 2 * step + 1);
    }
    for (int i = 0; check.rank == 0 && i < ROUNDS * (check.size - 1); i++)
        receive_step();
    return check_end();
}

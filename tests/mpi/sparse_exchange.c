/* SPDX-License-Identifier: MIT */
// ranks: 5
// native: differs
// about: sparse exchange without known senders (NBX): Issend, Iprobe for anyone, Testall, and an
//     Ibarrier that ends it
#include "check.h"

enum { ROUNDS = 6, MOST = 8 };

struct exchange {
    MPI_Request sends[MOST];
    long values[MOST];
    int sent;
    MPI_Request barrier;
    long failed;
};

// Who is sent to depends on rank and round, and the receivers do not know it.
static void send(struct exchange *exchange, int round)
{
    for (int k = 1; k < check.size; k++) {
        if ((check.rank * 3 + k + round) % 3 == 0)
            continue;
        exchange->values[exchange->sent] = check_value(check.rank, round);
        MPI_Issend(&exchange->values[exchange->sent], 1, MPI_LONG, (check.rank + k) % check.size,
                   round, MPI_COMM_WORLD, &exchange->sends[exchange->sent]);
        exchange->sent++;
    }
}

static void receive_if_any(struct exchange *exchange, int round)
{
    int flag = 0;
    long value = -1;
    MPI_Status status;

    MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &status);
    if (!flag) {
        exchange->failed++;
        return;
    }
    MPI_Recv(&value, 1, MPI_LONG, status.MPI_SOURCE, round, MPI_COMM_WORLD, &status);
    check_note_message(value, &status);
}

// Returns 1 when all ranks know that all messages have been received.
static int finished(struct exchange *exchange)
{
    int flag = 0;

    if (exchange->barrier != MPI_REQUEST_NULL) {
        MPI_Test(&exchange->barrier, &flag, MPI_STATUS_IGNORE);
        return flag;
    }
    MPI_Testall(exchange->sent, exchange->sends, &flag, MPI_STATUSES_IGNORE);
    if (flag)
        MPI_Ibarrier(MPI_COMM_WORLD, &exchange->barrier);
    return 0;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        struct exchange exchange = {.barrier = MPI_REQUEST_NULL};
        check_pace(round);
        send(&exchange, round);
        do {
            receive_if_any(&exchange, round);
            sched_yield();
        } while (!finished(&exchange));
        check_note(exchange.failed);
    }
    return check_end();
}

/* SPDX-License-Identifier: MIT */
// ranks: 3
// timeout: 150
// det: slow
// native: differs
// also: clocks
// about: 20,000 receives, half of them wildcards, in one Waitall, and again in rounds of Waitsome
#include "check.h"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define SEND MPI_Isend // of many MPI_Issend, Open MPI 5.0.7 loses answers, natively
#else
#define SEND MPI_Issend
#endif
enum { REQUESTS = 20000, WINDOW = 200, TAG_WILD = 1, TAG_NAMED = 2 };

static int values[REQUESTS];
static MPI_Request requests[REQUESTS];
static MPI_Status statuses[REQUESTS];
static int indices[REQUESTS];

static void post(void)
{
    for (int i = 0; i < REQUESTS; i++) {
        int named = i % 2;
        MPI_Irecv(&values[i], 1, MPI_INT, named ? 1 + i / 2 % (check.size - 1) : MPI_ANY_SOURCE,
                  named ? TAG_NAMED : TAG_WILD, MPI_COMM_WORLD, &requests[i]);
    }
}

static void note(int index, const MPI_Status *status)
{
    CHECK(values[index] / REQUESTS == status->MPI_SOURCE, "value %d from %d", values[index],
          status->MPI_SOURCE);
    check_note(values[index]);
}

static void by_waitall(void)
{
    MPI_Waitall(REQUESTS, requests, statuses);
    for (int i = 0; i < REQUESTS; i++)
        note(i, &statuses[i]);
}

static void by_waitsome(void)
{
    int count, done = 0;

    while (MPI_Waitsome(REQUESTS, requests, &count, indices, statuses), count != MPI_UNDEFINED) {
        check_note(count);
        done += count;
        for (int i = 0; i < count; i++) {
            check_note(indices[i]);
            note(indices[i], &statuses[i]);
        }
    }
    CHECK(done == REQUESTS, "%d completed", done);
}

// Half of a sender's messages for wildcards. They are sent in windows, so that no sender floods the
// receiver.
static void send_all(void)
{
    int each = REQUESTS / (check.size - 1), numbers[WINDOW];
    MPI_Request sends[WINDOW];

    check_pace(0);
    for (int sent = 0; sent < each; sent += WINDOW) {
        for (int i = 0; i < WINDOW; i++) {
            numbers[i] = check.rank * REQUESTS + sent + i;
            SEND(&numbers[i], 1, MPI_INT, 0, i % 2 ? TAG_NAMED : TAG_WILD, MPI_COMM_WORLD,
                 &sends[i]);
        }
        MPI_Waitall(WINDOW, sends, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static void (*const kinds[])(void) = {by_waitall, by_waitsome};

    check_start(&argc, &argv);
    for (int kind = 0; kind < 2; kind++) {
        if (check.rank == 0)
            post();
        MPI_Barrier(MPI_COMM_WORLD);
        if (check.rank == 0)
            kinds[kind]();
        else
            send_all();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return check_end();
}

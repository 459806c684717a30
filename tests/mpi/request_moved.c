/* SPDX-License-Identifier: MIT */
// ranks: 4
// native: differs
// about: request handles copied and moved by the program: arrays compacted and reordered, handles
//     kept in structs
#include "check.h"

enum { ROUNDS = 6, SLOTS = 9, TAG = 1 };

struct job {
    long value;
    int place; // when posted
    MPI_Request request;
};

static void post(struct job *jobs)
{
    for (int i = 0; i < SLOTS; i++) {
        MPI_Request request;
        jobs[i].place = i;
        MPI_Irecv(&jobs[i].value, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        jobs[i].request = request;
    }
}

// Copies what is pending, last first, and waits on the copies; completed ones are compacted away.
static void by_testsome(struct job *jobs)
{
    int count = SLOTS, done, indices[SLOTS], places[SLOTS];
    MPI_Request requests[SLOTS];
    MPI_Status statuses[SLOTS];

    for (int i = 0; i < SLOTS; i++) {
        places[i] = SLOTS - 1 - i;
        requests[i] = jobs[SLOTS - 1 - i].request;
    }
    while (count > 0) {
        int kept = 0;
        MPI_Testsome(count, requests, &done, indices, statuses);
        for (int i = 0; i < done; i++) {
            check_note(places[indices[i]]);
            check_note_message(jobs[places[indices[i]]].value, &statuses[i]);
        }
        for (int i = 0; i < count; i++)
            if (requests[i] != MPI_REQUEST_NULL) {
                requests[kept] = requests[i];
                places[kept++] = places[i];
            }
        count = kept;
        sched_yield();
    }
}

// Waits through a handle copied to another place for each call, in an order of stride 4.
static void by_wait(struct job *jobs)
{
    for (int i = 0; i < SLOTS; i++) {
        struct job *job = &jobs[i * 4 % SLOTS];
        MPI_Request copy = job->request;
        MPI_Status status;
        MPI_Wait(&copy, &status);
        check_note(job->place);
        check_note_message(job->value, &status);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int step = 0; check.rank > 0 && step < ROUNDS * SLOTS / (check.size - 1); step++)
        check_send_paced(0, TAG, step);
    for (int round = 0; check.rank == 0 && round < ROUNDS; round++) {
        struct job jobs[SLOTS];
        post(jobs);
        if (round % 2)
            by_wait(jobs);
        else
            by_testsome(jobs);
    }
    return check_end();
}
